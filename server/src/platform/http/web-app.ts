import { existsSync } from 'node:fs';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';

/** Paths of programs, also of those that the server does not serve yet. */
const PROGRAM_PATHS =
  /^\/(api|v1|runtime|huggingface|healthz|readyz|metrics|openapi\.json|\.well-known)(\/|$)|\.git(\/|$)/;

/**
 * Serves the built web app. Its assets carry a hash in their names and may be kept for ever; the
 * page itself is asked for each time. A browser gets the page for every path that is no program's,
 * and its router takes it from there; programs do not ask for HTML, and get their error.
 */
export async function serveWebApp(app: FastifyInstance, dist: string): Promise<void> {
  const isBuilt = existsSync(path.join(dist, 'index.html'));
  if (isBuilt) {
    await app.register(fastifyStatic, {
      root: dist,
      cacheControl: false,
      setHeaders: (reply, file) => {
        const isHashed = file.startsWith(path.join(dist, 'assets') + path.sep);
        reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
      },
    });
  }
  app.setNotFoundHandler((request, reply) => {
    const [pathname = '/'] = request.url.split('?');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const isPage = request.headers.accept?.includes('text/html') && !PROGRAM_PATHS.test(pathname);
    if (isRead && isPage) {
      if (!isBuilt)
        throw new AppError('not_found', {
          publicMessage: "The web app is not built: './bakehouse up' builds it",
        });
      // Not returned: a reply is thenable, and waiting for it from within itself only adds listeners.
      reply.header('cache-control', 'no-cache').sendFile('index.html');
      return;
    }
    throw new AppError('not_found', { publicMessage: `There is no ${request.method} ${pathname}` });
  });
}
