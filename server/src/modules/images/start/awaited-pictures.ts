import type { FastifyReply } from 'fastify';
import { openByKey } from '../../../platform/concurrency/open-by-key.ts';
import { onClose } from '../../../platform/http/on-close.ts';

/** So long a client may take to repeat a call that it has given up on: OpenAI's pause for eight seconds at most. */
export const REPEAT_MS = 30_000;

/** The calls of this process that wait for a picture, or were answered with it lately, by the picture's id. */
const calls = openByKey();

/** Whether another call has the picture, or will have it. */
export function isAwaited(id: string): boolean {
  return calls.of(id) > 0;
}

/** Counts a call that waits for the picture until it is over, or longer where it is answered with it. Returns how to leave before. */
export function awaitPicture(id: string, { raw }: Pick<FastifyReply, 'raw'>): () => void {
  let uncount = calls.enter(id, Number.POSITIVE_INFINITY);
  const leave = () => {
    uncount?.();
    uncount = null;
  };
  onClose({ raw }, () => {
    const isAnswered = raw.writableFinished && raw.statusCode < 400;
    if (isAnswered) setTimeout(leave, REPEAT_MS).unref();
    else leave();
  });
  return leave;
}
