import { setTimeout as pause } from 'node:timers/promises';
import type { Generation } from '@bakehouse/contract/generations';
import type { Context } from '../../../platform/context.ts';
import { isDatabaseAway } from '../../../platform/db/errors/is-database-away.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { clientSignal } from '../../../platform/http/client-signal.ts';
import { onClose } from '../../../platform/http/on-close.ts';
import { linkSignals } from '../../../platform/link-signals.ts';
import { awaitGeneration } from '../await-generation.ts';
import { markLeft } from '../queries.ts';
import { cancelLeft } from './cancel-left.ts';
import { refuseUnsuccessful } from './refuse-unsuccessful.ts';

/** Timeout of OpenAI's Python client; the Node client waits half as long and retries. */
const WAIT_MS = 10 * 60_000;
/** Clients retry for about half a minute. */
const NOTE_TRIES = 30;
const NOTE_AGAIN_MS = 1_000;

/**
 * Waits until a picture is generated. Cancels it if the client disconnects or times out, unless an
 * Idempotency-Key announces a retry, the call was already repeated, or a service has started it. Throws the
 * errors of `refuseUnsuccessful`, AppError 'timed_out', and 'unavailable' on server shutdown, which does not
 * stop the generation.
 */
export async function awaitCompleted(
  ctx: Context,
  { id }: Pick<Generation, 'id'>,
  reply: Http['reply'],
): Promise<Generation> {
  const isComingBack = ctx.idempotencyKey !== null;
  const leave = isComingBack ? async () => undefined : leaveOnce(ctx, id, reply);
  const giveUp = async () => {
    await leave();
    return isComingBack ? null : cancelUnanswered(ctx, id);
  };
  const waited = await untilEnded(ctx, id, reply).catch(async (error: unknown) => {
    if (ctx.closing.aborted) await leave();
    else if (!isGone(error)) await giveUp();
    throw error;
  });
  const isLate = waited.ended_at === null;
  // OpenAI's clients retry after a timeout: without a key they would receive and pay for a second picture.
  const generation = isLate ? ((await giveUp()) ?? waited) : waited;
  if (isLate && generation.state !== 'completed') throw timedOut(generation, isComingBack);
  refuseUnsuccessful(generation);
  return generation;
}

/**
 * Returns a function that records, once, that the call left without its picture; a repeated call can then
 * claim it (`joins-repeat.ts`). Runs automatically if the response is not sent completely.
 */
function leaveOnce(ctx: Context, id: string, { raw }: Http['reply']): () => Promise<void> {
  let noted: Promise<void> | undefined;
  const leave = () => {
    noted ??= noteLeft(ctx, id).catch((error: unknown) =>
      ctx.log.warn({ err: error, generation_id: id }, 'failed to record client disconnect'),
    );
    return noted;
  };
  onClose({ raw }, () => {
    const isAnswered = raw.writableFinished && raw.statusCode < 400;
    if (!isAnswered) void leave();
  });
  return leave;
}

/** Wait out a short database outage: without the record, a repeated call would pay for a second picture. */
async function noteLeft({ db, clock, caller, closing }: Context, id: string): Promise<void> {
  const leftAt = clock.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await markLeft(db, { id, userId: caller.userId }, leftAt);
    } catch (error) {
      if (tries === NOTE_TRIES || closing.aborted || !isDatabaseAway(error)) throw error;
    }
    await pause(NOTE_AGAIN_MS);
  }
}

async function untilEnded(ctx: Context, id: string, reply: Http['reply']): Promise<Generation> {
  using over = linkSignals(clientSignal(reply), ctx.closing);
  const generation = await awaitGeneration(ctx, id, { ms: WAIT_MS, signal: over.signal });
  if (generation.ended_at === null) ctx.closing.throwIfAborted();
  return generation;
}

function isGone(error: unknown): boolean {
  return error instanceof AppError && error.code === 'not_found';
}

/**
 * Cancels an abandoned picture; null if it continues because a service has started (and charges) it or the
 * cancel failed. Never throws: the call's own result is already decided.
 */
async function cancelUnanswered(ctx: Context, id: string): Promise<Generation | null> {
  try {
    return await cancelLeft(ctx, { id });
  } catch (error) {
    ctx.log.info({ err: error, generation_id: id }, 'failed to cancel abandoned generation');
    return null;
  }
}

function timedOut({ id, state }: Generation, isComingBack: boolean): AppError {
  return new AppError('timed_out', {
    // With a key, a retry finds this picture; without one it would start another.
    shouldRetry: isComingBack,
    publicMessage:
      state === 'cancelled'
        ? 'The picture was not done in time, and was cancelled. Nothing was charged'
        : `The picture is not done yet. GET /api/v1/generations/${id} shows it once it is`,
  });
}
