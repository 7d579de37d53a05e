import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type AppError, unavailable } from '../errors.ts';

const DRAIN_SECONDS = 20;
const POLL_MS = 25;
/** How long clients have to receive the shutdown response. */
const CUT_AFTER_MS = 1_000;
/** Workloads report saved work until the end; health is served until the last moment. */
const OPEN_TO_THE_END = /^\/(runtime|healthz|metrics)(\/|$)/;

/** Returns the error for requests during the shutdown. */
export function serverStops(): AppError {
  return unavailable('The server is stopping. Try again in a moment');
}

/**
 * Shuts the server down gracefully. `app.drain()` ends open event streams, answers new requests with 503 and
 * waits up to `drainSeconds` for those in progress; workload reports are still accepted. `app.close()` then
 * ends within moments and cuts open connections: otherwise it would wait forever on open streams and long
 * responses, and for the keep-alive time on idle connections.
 */
export function closeGracefully(app: FastifyInstance, drainSeconds: number = DRAIN_SECONDS): void {
  let draining = false;
  let inWork = 0;
  const openStreams = new Set<() => void>();
  app.decorate('openStreams', openStreams);

  app.addHook('onRequest', async (request, reply) => {
    if (OPEN_TO_THE_END.test(request.url)) return;
    if (draining) {
      reply.header('connection', 'close');
      throw serverStops();
    }
    inWork += 1;
    // Also fires when the client disconnects in the middle.
    reply.raw.once('close', () => {
      inWork -= 1;
    });
  });

  app.decorate('drain', async () => {
    draining = true;
    for (const close of openStreams) close();
    const end = Date.now() + drainSeconds * 1000;
    while (inWork > 0 && Date.now() < end) await sleep(POLL_MS);
  });

  // Node does not count a connection without any request as idle, and would wait a minute for it.
  const silent = new Set<Socket>();
  app.server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  app.server.on('request', ({ socket }) => silent.delete(socket));

  let closer: NodeJS.Timeout | undefined;
  let cutter: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    for (const close of openStreams) close();
    closer = setInterval(() => {
      app.server.closeIdleConnections();
      for (const socket of silent) socket.destroy();
    }, POLL_MS);
    cutter = setTimeout(() => app.server.closeAllConnections(), CUT_AFTER_MS);
  });
  app.addHook('onClose', async () => {
    clearInterval(closer);
    clearTimeout(cutter);
  });
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Functions that end open event streams. */
    openStreams: Set<() => void>;
    drain: () => Promise<void>;
  }
}
