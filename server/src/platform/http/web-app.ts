import { existsSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFoundError } from '../errors.ts';
import { callNotFound } from './unknown-calls.ts';

/** Paths that programs call. Browsers never get the web app's page there. */
const PROGRAM_PATHS =
  /^\/(api|v1|hub|runtime|huggingface|healthz|readyz|metrics|openapi\.json|\.well-known)(\/|$)|\.git(\/|$)/;

/** Fallback route, for files of the web app and its pages. */
export const PAGE_ROUTE = '/*';

type Asked = Pick<FastifyRequest, 'method' | 'url' | 'headers'>;

const pathnameOf = ({ url }: Asked) => url.split('?')[0] ?? '/';

/** Returns true if a browser requests a page. Only the web app's router reads its path and query. */
export function isPageRequest(request: Asked): boolean {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const takesPages = request.headers.accept?.includes('text/html') ?? false;
  return isRead && takesPages && !PROGRAM_PATHS.test(pathnameOf(request));
}

/**
 * Returns the URL by which to route a request. Before routing, Fastify rejects paths that cannot be decoded,
 * such as '/runs/%zz'. If a browser requests such a page, it gets the web app instead, which shows that the
 * page does not exist.
 */
export function routedUrl({ method = 'GET', url = '/', headers }: IncomingMessage): string {
  const asked = { method, url, headers };
  return isPageRequest(asked) && !canBeDecoded(pathnameOf(asked)) ? '/' : url;
}

function canBeDecoded(pathname: string): boolean {
  try {
    decodeURIComponent(pathname);
    return true;
  } catch {
    return false;
  }
}

/**
 * Serves the built web app with its precompressed files. Assets have a hash in their names and are cached
 * forever; everything else is revalidated. A browser gets the page for every path that is not a program's;
 * programs do not request HTML, and get an error. None of this counts as a call, because a single page is a
 * dozen files.
 */
export async function serveWebApp(app: FastifyInstance, dist: string): Promise<void> {
  const isBuilt = existsSync(path.join(dist, 'index.html'));
  const sendPage = (request: FastifyRequest, reply: FastifyReply) => {
    if (!isPageRequest(request)) throw callNotFound(request.method, pathnameOf(request));
    if (!isBuilt) throw notFoundError("The web app is not built: './bakehouse up' builds it");
    // Not returned: a reply is thenable, and awaiting it from within itself only adds listeners.
    reply.sendFile('index.html');
  };
  app.setNotFoundHandler(sendPage);
  if (!isBuilt) return;
  // The plugin adds no routes, because they would count against the caller's limit.
  await app.register(fastifyStatic, {
    root: dist,
    serve: false,
    preCompressed: true,
    dotfiles: 'ignore',
    cacheControl: false,
    setHeaders: (reply, file) => {
      const isHashed = file.startsWith(path.join(dist, 'assets') + path.sep);
      reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
    },
  });
  app.route<{ Params: { '*': string } }>({
    method: ['GET', 'HEAD'],
    url: PAGE_ROUTE,
    config: { rateLimit: false },
    schema: { hide: true },
    handler: (request, reply) => {
      const file = request.params['*'];
      // No file has such a name. Without this check, the file server would reject the path with an unhelpful
      // message.
      if (file.includes('\0') || path.posix.normalize(`/${file}`) !== `/${file}`)
        return sendPage(request, reply);
      reply.sendFile(file === '' ? 'index.html' : file);
    },
  });
}
