import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type AppError, unavailable } from '../errors.ts';

const DRAIN_SECONDS = 20;
const POLL_MS = 25;
/** Time for clients to receive their last response before connections are cut. */
const CUT_AFTER_MS = 1_000;
/** Accepted until the end: workloads report that they saved their work, and health is checked. */
const OPEN_TO_THE_END = /^\/(runtime|healthz|metrics)(\/|$)/;

/** Returns the error for requests during the shutdown. */
export function serverStops(): AppError {
  return unavailable('The server is stopping. Try again in a moment');
}

/**
 * Shuts the server down gracefully. `app.drain()` ends open event streams, answers new requests with 503, and
 * waits up to `drainSeconds` for requests in progress. Workload reports are still accepted. Then
 * `app.close()` cuts open connections after a second. Otherwise it would wait forever for open streams and
 * long responses.
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
    // Also emitted if the client disconnects during the response.
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

  // Connections that have not sent a request. Node does not count them as idle, and would wait a minute for
  // them.
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
