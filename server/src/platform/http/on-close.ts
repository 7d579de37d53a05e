import type { FastifyReply } from 'fastify';

/** Calls once when the answer is over, in whichever way; at once where the client left before anybody asked. */
export function onClose({ raw }: Pick<FastifyReply, 'raw'>, listener: () => void): void {
  if (raw.destroyed) listener();
  else raw.once('close', listener);
}
