import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Ordinary clients wait for a response before the next request. */
const WAITING_MAX = 8;

/**
 * Closes a connection that pipelines more requests than `waitingMax`: responses are sent in order, and each
 * waiting one holds memory and a file handle while the client does not read.
 */
export function limitPipelining(app: FastifyInstance, waitingMax = WAITING_MAX): void {
  const waiting = new WeakMap<Socket, number>();
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count <= waitingMax) return done();
    // Also drops data that was read together with this request.
    reply.hijack();
    socket.destroy();
  });
  app.addHook('onResponse', async ({ raw: { socket } }) => {
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
  });
}
