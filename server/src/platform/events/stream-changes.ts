import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import type { Http } from '../http/bind.ts';
import { openEventStream } from '../http/server-sent-events.ts';
import { untilKeyEnds } from '../http/until-key-ends.ts';

/** Far more than the tabs of several browsers. */
const STREAMS_MAX = 20;

/** Open streams of this process, by user. */
const streamsOf = new Map<string, number>();

/**
 * Sends the caller's changes as server-sent events until they leave, or their API key ends. Throws
 * AppError('rate_limited') for somebody who has too many open.
 */
export async function streamChanges(ctx: Context, http: Http): Promise<void> {
  const { userId } = ctx.caller;
  const open = streamsOf.get(userId) ?? 0;
  if (open >= STREAMS_MAX) {
    throw new AppError('rate_limited', {
      publicMessage: `You have ${STREAMS_MAX} event streams open. Close one before you open another`,
    });
  }
  streamsOf.set(userId, open + 1);
  const stream = openEventStream(http);
  const unsubscribe = ctx.events.subscribe(userId, (event) => stream.send('change', event));
  const key = untilKeyEnds(ctx);
  key.signal.addEventListener('abort', stream.close);
  stream.closed.addEventListener('abort', () => {
    unsubscribe();
    key.stop();
    const left = (streamsOf.get(userId) ?? 1) - 1;
    if (left === 0) streamsOf.delete(userId);
    else streamsOf.set(userId, left);
  });
}
