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

/** OpenAI's client for Python waits so long; the one for Node half of it, and comes back. */
const WAIT_MS = 10 * 60_000;
/** Clients that repeat a call do so for some half a minute. */
const NOTE_TRIES = 30;
const NOTE_AGAIN_MS = 1_000;

/**
 * Waits until a picture is generated. A client that disconnects, or has waited too long, needs it no more: it is cancelled,
 * unless an Idempotency-Key says that the client comes back for it, its call was repeated meanwhile, or a service has begun
 * it. Throws what `refuseUnsuccessful` throws, AppError 'timed_out', and 'unavailable' where the server stops: the picture
 * is generated all the same.
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
  // OpenAI's clients repeat a call that has timed out: without a key they would get, and pay, a second picture.
  const generation = isLate ? ((await giveUp()) ?? waited) : waited;
  if (isLate && generation.state !== 'completed') throw timedOut(generation, isComingBack);
  refuseUnsuccessful(generation);
  return generation;
}

/**
 * How to note that the call goes away without its picture, which happens once: from then on the same call repeated may
 * have it (`joins-repeat.ts`). A call whose answer is not sent whole notes it by itself.
 */
function leaveOnce(ctx: Context, id: string, { raw }: Http['reply']): () => Promise<void> {
  let noted: Promise<void> | undefined;
  const leave = () => {
    noted ??= noteLeft(ctx, id).catch((error: unknown) =>
      ctx.log.warn({ err: error, generation_id: id }, 'that a call has left its picture could not be noted'),
    );
    return noted;
  };
  onClose({ raw }, () => {
    const isAnswered = raw.writableFinished && raw.statusCode < 400;
    if (!isAnswered) void leave();
  });
  return leave;
}

/** A short outage of the database is waited for: without the note the call repeated would pay for a second picture. */
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
 * Cancels a picture that nobody waits for any more; null where it goes on: a service has begun it, which is charged, or its
 * cancel failed. How the call itself ends is known already.
 */
async function cancelUnanswered(ctx: Context, id: string): Promise<Generation | null> {
  try {
    return await cancelLeft(ctx, { id });
  } catch (error) {
    ctx.log.info({ err: error, generation_id: id }, 'a picture that nobody waits for was not cancelled');
    return null;
  }
}

function timedOut({ id, state }: Generation, isComingBack: boolean): AppError {
  return new AppError('timed_out', {
    // With a key the call would come back to this picture, without one begin another.
    shouldRetry: isComingBack,
    publicMessage:
      state === 'cancelled'
        ? 'The picture was not done in time, and was cancelled. Nothing was charged'
        : `The picture is not done yet. GET /api/v1/generations/${id} shows it once it is`,
  });
}
