import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import type { Http } from '../http/bind.ts';
import { openEventStream } from '../http/server-sent-events.ts';

/** Far more than the tabs of several browsers. */
const STREAMS_MAX = 20;

/**
 * Sends the caller's changes as server-sent events until they leave, or their API key ends. Throws
 * AppError('rate_limited') for somebody who has too many open.
 */
export async function streamChanges(ctx: Context, http: Http): Promise<void> {
  const { userId } = ctx.caller;
  if (ctx.events.countListeners(userId) >= STREAMS_MAX) {
    throw new AppError('rate_limited', {
      publicMessage: `You have ${STREAMS_MAX} event streams open. Close one before you open another`,
    });
  }
  const stream = openEventStream(http);
  const unsubscribe = ctx.events.subscribe(userId, (event) => {
    stream.send('change', event);
    if (event.topic === 'api_key') stream.close();
  });
  stream.closed.addEventListener('abort', unsubscribe);
}
