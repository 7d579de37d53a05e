import type { ChangeEvent } from '@bakehouse/contract/events';
import { DAY_MS } from '../clock.ts';
import { openByKey } from '../concurrency/open-by-key.ts';
import { shareLimit } from '../concurrency/share-limit.ts';
import type { Context, Services } from '../context.ts';
import { tooMany } from '../errors.ts';
import { LiveEvents } from '../http/answer.ts';
import { watchKey } from '../http/callers/key-ends.ts';
import type { EventStream } from '../http/send-page.ts';

/**
 * A resumed stream also repeats changes from this long before its position. It covers late commits (an older
 * change may be announced after a younger one), clock differences, and the time between a page's first reads
 * and its stream. Receiving a change twice only costs one more read.
 */
const OVERLAP_MS = 10_000;

/** A client that missed more reloads everything. That is cheaper, and the stream's buffer is limited. */
const MISSED_MAX = 1_000;

/** How long changes are kept. */
export const KEPT_MS = DAY_MS + 2 * OVERLAP_MS;

/** Maximum per user in all processes; several browsers with many tabs have fewer. */
const STREAMS_MAX = 20;

/** Open streams of this process by user. */
const streams = openByKey();

/**
 * Streams the caller's changes as server-sent events until the client disconnects or its API key ends. Starts
 * with the changes after the event with this id. Without an id, starts with those of the last seconds. Throws
 * AppError 'rate_limited' if the user has too many open streams.
 */
export function streamChanges(ctx: Context, lastEventId: string | undefined): LiveEvents {
  const { userId } = ctx.caller;
  const leave = streams.enter(userId, shareLimit(STREAMS_MAX, ctx.webProcesses()));
  if (!leave) {
    throw tooMany(`You have too many event streams open. Close one before you open another`);
  }
  return new LiveEvents((stream) => sendChanges(ctx, stream, { lastEventId, leave }));
}

async function sendChanges(
  ctx: Context,
  stream: EventStream,
  { lastEventId, leave }: { lastEventId: string | undefined; leave: () => void },
): Promise<void> {
  // The client disconnected during authentication.
  if (stream.closed.aborted) return leave();
  const { userId } = ctx.caller;
  const unsubscribe = ctx.events.subscribe(userId, (event, at) => stream.send('change', event, idOf(at)));
  const key = watchKey(ctx);
  key.signal.addEventListener('abort', stream.close);
  stream.closed.addEventListener('abort', () => {
    unsubscribe();
    key.stop();
    leave();
  });
  // Subscribe before reading the missed changes, so that none is lost in between.
  await sendMissed(ctx, stream, lastEventId);
}

/** Sends the missed changes. Without an id, those of the last seconds (see `missedChanges`). */
async function sendMissed(ctx: Context, stream: EventStream, lastEventId: string | undefined): Promise<void> {
  const opened = idOf(ctx.clock.now());
  try {
    const missed = await missedChanges(ctx, ctx.caller.userId, lastEventId ?? opened);
    if (stream.closed.aborted) return;
    if (missed === null) return stream.send('reset', {}, opened);
    for (const { event, at } of missed) stream.send('change', event, idOf(at));
    stream.sendId(opened);
  } catch (error) {
    // The response has already begun, so end the stream; the client reconnects with its last id.
    ctx.log.warn({ err: error }, 'failed to read the missed changes of a stream');
    stream.close();
  }
}

/** The id of an event is the time of its announcement. */
function idOf(at: Date): string {
  return String(at.getTime());
}

/**
 * Returns the user's changes since the event with this id, oldest first. Returns null if the id is invalid or
 * older than a day, or if there are too many changes.
 */
async function missedChanges(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  userId: string,
  lastEventId: string,
): Promise<{ event: ChangeEvent; at: Date }[] | null> {
  const since = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : Number.NaN;
  const age = clock.now().getTime() - since;
  if (!(age <= DAY_MS && age >= -OVERLAP_MS)) return null;
  const rows = await db
    .selectFrom('recent_changes')
    .select(['topic', 'thing_id', 'at'])
    .where('user_id', 'in', [userId, ''])
    .where('at', '>=', new Date(since - OVERLAP_MS))
    .orderBy('at')
    .limit(MISSED_MAX + 1)
    .execute();
  if (rows.length > MISSED_MAX) return null;
  return rows.map(({ topic, thing_id, at }) => ({
    event: { topic: topic as ChangeEvent['topic'], id: thing_id },
    at,
  }));
}
