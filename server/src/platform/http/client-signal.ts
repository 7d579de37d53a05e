import type { FastifyReply } from 'fastify';

/** Aborts when the client disconnects before it has its answer. */
export function clientSignal({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const disconnected = new AbortController();
  const onClose = () => {
    if (!raw.writableEnded) disconnected.abort();
  };
  if (raw.destroyed) onClose();
  else raw.once('close', onClose);
  return disconnected.signal;
}
