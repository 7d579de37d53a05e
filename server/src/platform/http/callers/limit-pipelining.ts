import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Ordinary clients send the next request only after a response. */
const WAITING_MAX = 8;

/**
 * Closes a connection on which more than `waitingMax` requests wait for their response. Responses are sent in
 * order, so while the client does not read, each waiting one would hold memory and a file handle.
 */
export function limitPipelining(app: FastifyInstance, waitingMax = WAITING_MAX): void {
  const waiting = new WeakMap<Socket, number>();
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count <= waitingMax) return done();
    // Also discards the data that was received together with this request.
    reply.hijack();
    socket.destroy();
  });
  app.addHook('onResponse', async ({ raw: { socket } }) => {
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
  });
}
