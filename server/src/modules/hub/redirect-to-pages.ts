import type { FastifyPluginAsync } from 'fastify';
import { AppError } from '../../platform/errors.ts';
import { noSuchCall } from '../../platform/http/no-such-call.ts';

/** A repository, and what of it is meant. */
const REPOSITORY = /^\/hub\/(?:(datasets)\/|(?!(?:api|datasets)\/))([^/]+\/[^/]+(?:\/.*)?)$/;

/** What Git asks for first. */
const GIT = /^\/hub\/(?:(datasets)\/)?([\w.-]+\/[\w.-]+?)(?:\.git)?\/info\/refs$/;

/**
 * Redirects a browser from an address that the hub's clients print to the page of the web app that goes by the same name. It
 * leads there whether or not there is such a repository: the app asks as whoever has signed in.
 */
export const redirectToPages: FastifyPluginAsync = async (app) => {
  app.get('/hub/*', { schema: { hide: true } }, async ({ url, method, headers }, reply) => {
    const pathname = url.split('?')[0] ?? '/';
    const repository = GIT.exec(pathname);
    // Git prints the text of a 403, and of no other error.
    if (repository) return reply.code(403).type('text/plain; charset=utf-8').send(refuseGit(repository));
    const page = headers.accept?.includes('text/html') ? pageOf(pathname) : null;
    if (page === null) throw new AppError('not_found', { publicMessage: noSuchCall(method, pathname) });
    return reply.redirect(page);
  });
};

/** Pure. */
function pageOf(pathname: string): string | null {
  const [, type = 'models', repository] = REPOSITORY.exec(pathname) ?? [];
  return repository === undefined ? null : `/${type}/${repository}`;
}

function refuseGit([, type, name]: RegExpExecArray): string {
  const kind = type ? ' --repo-type dataset' : '';
  const command = `hf download ${name}${kind} --local-dir ${name?.split('/')[1]}`;
  return `This server does not speak Git. Set HF_ENDPOINT to its address and /hub, then: ${command}\n`;
}
