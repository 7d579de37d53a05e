import type { FastifyPluginAsync } from 'fastify';
import { callNotFound } from '../../platform/http/unknown-calls.ts';

/** Type and name of a repository, and a path in it. */
const REPOSITORY = /^\/hub\/(?:(datasets)\/|(?!(?:api|datasets)\/))([^/]+\/[^/]+(?:\/.*)?)$/;

/** The first request of `git clone`. */
const GIT = /^\/hub\/(?:(datasets)\/)?([\w.-]+\/[\w.-]+?)(?:\.git)?\/info\/refs$/;

/**
 * Redirects a browser from a URL that the hub's clients print to the page of the web app. Does not check
 * whether the repository exists, because the page does so for the signed-in user.
 */
export const redirectToPages: FastifyPluginAsync = async (app) => {
  app.get('/hub/*', { schema: { hide: true } }, async ({ url, method, headers }, reply) => {
    const pathname = url.split('?')[0] ?? '/';
    const repository = GIT.exec(pathname);
    // Git prints the body only for a 403.
    if (repository)
      return reply.code(403).type('text/plain; charset=utf-8').send(explainMissingGit(repository));
    const page = headers.accept?.includes('text/html') ? pageOf(pathname) : null;
    if (page === null) throw callNotFound(method, pathname);
    return reply.redirect(page);
  });
};

function pageOf(pathname: string): string | null {
  const [, type = 'models', repository] = REPOSITORY.exec(pathname) ?? [];
  return repository === undefined ? null : `/${type}/${repository}`;
}

function explainMissingGit([, type, name]: RegExpExecArray): string {
  const kind = type ? ' --repo-type dataset' : '';
  const command = `hf download ${name}${kind} --local-dir ${name?.split('/')[1]}`;
  return `This server does not speak Git. Set HF_ENDPOINT to its address and /hub, then: ${command}\n`;
}
