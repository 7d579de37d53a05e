import type { FastifyReply } from 'fastify';

/** Aborts when the client disconnects before it has its answer. */
export function clientSignal({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const disconnected = new AbortController();
  raw.once('close', () => {
    if (!raw.writableEnded) disconnected.abort();
  });
  return disconnected.signal;
}
