import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Programs ask again once they are answered; few send the next requests before that. */
const WAITING_MAX = 8;

/**
 * Cuts a connection whose client sends ever more requests without waiting for their answers: they come in turn, and
 * each that waits holds memory and an open file for as long as the client does not read.
 */
export function limitPipelining(app: FastifyInstance, waitingMax = WAITING_MAX): void {
  const waiting = new WeakMap<Socket, number>();
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count <= waitingMax) return done();
    // Also what was read with the one that was too many.
    reply.hijack();
    socket.destroy();
  });
  app.addHook('onResponse', async ({ raw: { socket } }) => {
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
  });
}
