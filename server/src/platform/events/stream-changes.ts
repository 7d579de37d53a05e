import type { Context } from '../context.ts';
import type { Http } from '../http/bind.ts';
import { openEventStream } from '../http/server-sent-events.ts';

/** Sends the caller's changes as server-sent events until they leave. */
export async function streamChanges(ctx: Context, http: Http): Promise<void> {
  const stream = openEventStream(http);
  const unsubscribe = ctx.events.subscribe(ctx.caller.userId, (event) => stream.send('change', event));
  stream.closed.addEventListener('abort', unsubscribe);
}
