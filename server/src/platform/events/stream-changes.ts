import { openByKey } from '../concurrency/open-by-key.ts';
import { shareLimit } from '../concurrency/share-limit.ts';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import type { Http } from '../http/bind.ts';
import { headerText } from '../http/callers/find-caller.ts';
import { untilKeyEnds } from '../http/callers/until-key-ends.ts';
import { type EventStream, openEventStream } from '../http/server-sent-events.ts';
import { missedChanges } from './missed-changes.ts';

/** Of one user, in all processes: far more than the tabs of several browsers. */
const STREAMS_MAX = 20;

/** Open streams of this process by user. */
const streams = openByKey();

/**
 * Sends the caller's changes as server-sent events until the client disconnects or its API key ends, beginning with
 * those missed since `Last-Event-ID`, or without it in the last seconds. Throws AppError 'rate_limited' for too many
 * open streams.
 */
export async function streamChanges(ctx: Context, http: Http): Promise<void> {
  const { userId } = ctx.caller;
  const leave = streams.enter(userId, shareLimit(STREAMS_MAX, ctx.webProcesses()));
  if (!leave) {
    throw new AppError('rate_limited', {
      publicMessage: `You have too many event streams open. Close one before you open another`,
    });
  }
  const stream = openEventStream(http);
  // The client disconnected during authentication.
  if (stream.closed.aborted) return leave();
  const unsubscribe = ctx.events.subscribe(userId, (event, at) => stream.send('change', event, idOf(at)));
  const key = untilKeyEnds(ctx);
  key.signal.addEventListener('abort', stream.close);
  stream.closed.addEventListener('abort', () => {
    unsubscribe();
    key.stop();
    leave();
  });
  // The subscription is open already, so that no change falls between it and the missed ones.
  await sendMissed(ctx, stream, headerText(http.request.headers['last-event-id']));
}

/**
 * Without an id the client may have read just before the stream opened: `missedChanges` looks some seconds back from
 * any id.
 */
async function sendMissed(ctx: Context, stream: EventStream, lastEventId: string | undefined): Promise<void> {
  const opened = idOf(ctx.clock.now());
  try {
    const missed = await missedChanges(ctx, ctx.caller.userId, lastEventId ?? opened);
    if (stream.closed.aborted) return;
    if (missed === null) return stream.send('reset', {}, opened);
    for (const { event, at } of missed) stream.send('change', event, idOf(at));
    stream.sendId(opened);
  } catch (error) {
    // The response has begun: the client reconnects with the id that it has.
    ctx.log.warn({ err: error }, 'could not read what a stream has missed');
    stream.close();
  }
}

/** The id of an event is the moment in which it was announced. */
function idOf(at: Date): string {
  return String(at.getTime());
}
