import type { FastifyReply } from 'fastify';
import { onClose } from './on-close.ts';

/** Aborts when the client disconnects before it has its answer. */
export function clientSignal(reply: Pick<FastifyReply, 'raw'>): AbortSignal {
  const disconnected = new AbortController();
  onClose(reply, () => {
    if (!reply.raw.writableEnded) disconnected.abort();
  });
  return disconnected.signal;
}
