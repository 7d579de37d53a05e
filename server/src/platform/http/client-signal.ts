import type { FastifyReply } from 'fastify';
import { AppError } from '../errors.ts';
import { onClose } from './on-close.ts';

/** Aborts when the client disconnects before its response is complete. */
export function clientSignal(reply: Pick<FastifyReply, 'raw'>): AbortSignal {
  const disconnected = new AbortController();
  onClose(reply, () => {
    if (reply.raw.writableEnded) return;
    disconnected.abort(new AppError('unavailable', { publicMessage: 'The client disconnected' }));
  });
  return disconnected.signal;
}
