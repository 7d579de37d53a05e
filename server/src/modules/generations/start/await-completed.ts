import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Generation } from '@bakehouse/contract/generations';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { isDatabaseAway } from '../../../platform/db/errors/database-errors.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError, conflict, invalidRequest, timedOut, unavailable } from '../../../platform/errors.ts';
import type { Client } from '../../../platform/http/connection.ts';
import { underLease } from '../../../platform/leases/hold-lease.ts';
import { linkSignals } from '../../../platform/link-signals.ts';
import { announceGeneration } from '../announce-generation.ts';
import { awaitGeneration, endGeneration } from '../end-generation.ts';
import { getGeneration, lockUserGeneration } from '../generations.ts';
import { type GenerationRow, markDisconnected, updateGeneration } from '../queries.ts';
import { generationsTable } from '../run/generations-table.ts';
import { requeueLocked } from '../run/settle-generation.ts';
import { withdrawJob } from '../services/service-job.ts';

/** Longer than a service may take to report whether it started the job, and to cancel it. */
const CLAIM_MS = 90_000;

/** Timeout of OpenAI's Python client; the Node client waits half as long and retries. */
const WAIT_MS = 10 * 60_000;

/** Tries to record a disconnect for half a minute; clients do not retry for longer. */
const NOTE_TRIES = 30;

const NOTE_AGAIN_MS = 1_000;

/**
 * Waits until a picture is generated. If the client disconnects or times out, the picture is cancelled,
 * except in three cases: the call has an Idempotency-Key, the call is already a retry, or a service has
 * started the job. Throws the errors of `assertCompleted`, AppError 'timed_out', and 'unavailable' on server
 * shutdown, which does not stop the generation.
 */
export async function awaitCompleted(
  ctx: Context,
  { id }: Pick<Generation, 'id'>,
  client: Client,
): Promise<Generation> {
  const isComingBack = ctx.idempotencyKey !== null;
  const leave = isComingBack ? async () => undefined : leaveOnce(ctx, id, client);
  const giveUp = async () => {
    await leave();
    return isComingBack ? null : cancelUnanswered(ctx, id);
  };
  const waited = await untilEnded(ctx, id, client.signal).catch(async (error: unknown) => {
    if (ctx.closing.aborted) await leave();
    else if (!isGone(error)) await giveUp();
    throw error;
  });
  const isLate = waited.ended_at === null;
  // OpenAI's clients retry after a timeout. Without the cancel, the retry would pay for a second picture.
  const generation = isLate ? ((await giveUp()) ?? waited) : waited;
  if (isLate && generation.state !== 'completed') throw notDoneInTime(generation, isComingBack);
  assertCompleted(generation);
  return generation;
}

/**
 * Returns a function that records that the client left without its picture, so that a repeated call can claim
 * it (`findRepeatedCall`). It is also called if the response is not sent completely, and acts only once.
 */
function leaveOnce(ctx: Context, id: string, client: Client): () => Promise<void> {
  let noted: Promise<void> | undefined;
  const leave = () => {
    noted ??= recordDisconnect(ctx, id).catch((error: unknown) =>
      ctx.log.warn({ err: error, generation_id: id }, 'failed to record client disconnect'),
    );
    return noted;
  };
  client.onUndelivered(() => void leave());
  return leave;
}

/**
 * Records the disconnect; retries during a short database outage. Without the record, a repeated call would
 * pay for a second picture.
 */
async function recordDisconnect({ db, clock, caller, closing }: Context, id: string): Promise<void> {
  const leftAt = clock.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await markDisconnected(db, { id, userId: caller.userId }, leftAt);
    } catch (error) {
      if (tries === NOTE_TRIES || closing.aborted || !isDatabaseAway(error)) throw error;
    }
    await pause(NOTE_AGAIN_MS);
  }
}

async function untilEnded(ctx: Context, id: string, client: AbortSignal): Promise<Generation> {
  using over = linkSignals(client, ctx.closing);
  const generation = await awaitGeneration(ctx, id, { ms: WAIT_MS, signal: over.signal });
  if (generation.ended_at === null) ctx.closing.throwIfAborted();
  return generation;
}

function isGone(error: unknown): boolean {
  return error instanceof AppError && error.code === 'not_found';
}

/**
 * Cancels a picture whose client has left. Returns null if the picture continues, because a service has
 * started it (which is charged) or the cancel failed. Never throws, because the response to the client is
 * already decided.
 */
async function cancelUnanswered(ctx: Context, id: string): Promise<Generation | null> {
  try {
    return await cancelDisconnected(ctx, { id });
  } catch (error) {
    ctx.log.info({ err: error, generation_id: id }, 'failed to cancel abandoned generation');
    return null;
  }
}

function notDoneInTime({ id, state }: Generation, isComingBack: boolean): AppError {
  return timedOut(
    state === 'cancelled'
      ? 'The picture was not done in time, and was cancelled. Nothing was charged'
      : `The picture is not done yet. GET /api/v1/generations/${id} shows it once it is`,
    { shouldRetry: isComingBack },
  );
}

/**
 * Cancels a picture whose client has left, at no charge. If a repeated call claims it in the meantime, it
 * continues; if the service has already dropped its job, it gets a new one. Throws AppError 'not_found', and
 * the errors of `withdrawJob`: a job that the service has started continues and is charged.
 */
export async function cancelDisconnected(ctx: Context, { id }: { id: string }): Promise<Generation> {
  const token = await inTransaction(ctx.db, async (tx) => {
    const row = await lockUserGeneration(tx, { id, userId: ctx.caller.userId });
    if (row.ended_at !== null || row.left_at === null) return null;
    // A job is cancelled by its handle, which is missing while the job is being submitted.
    if (row.upstream_job) return row.upstream_job.handle === null ? null : claim(ctx, tx, row);
    await cancel(ctx, tx, row);
    return null;
  });
  if (token !== null) await withdraw(ctx, { id, token });
  return getGeneration(ctx, { id });
}

/**
 * Takes over the lease. Otherwise the worker would see that the job was cancelled, and fail the generation.
 */
async function claim({ clock }: Context, tx: Transaction, row: GenerationRow): Promise<string> {
  const token = randomUUID();
  const until = new Date(clock.now().getTime() + CLAIM_MS);
  await updateGeneration(tx, row.id, { lock_token: token, locked_until: until, check_at: until });
  return token;
}

async function withdraw(ctx: Context, lease: { id: string; token: string }): Promise<void> {
  const { db } = ctx;
  try {
    await withdrawJob(ctx, lease);
  } catch (error) {
    await underLease(db, generationsTable, lease, (tx, row) => letGo(ctx, tx, row));
    throw error;
  }
  await underLease(db, generationsTable, lease, (tx, row) =>
    row.left_at === null ? beginAgain(ctx, tx, row) : cancel(ctx, tx, row),
  );
}

/** Releases the lease, so that another worker resumes the generation immediately. */
async function letGo({ clock }: Context, tx: Transaction, row: GenerationRow): Promise<void> {
  const free = { lock_token: null, locked_until: null, check_at: clock.now(), attempt: uncounted(row) };
  await updateGeneration(tx, row.id, free);
  await announceGeneration(tx, row, { queueMoved: true });
}

async function beginAgain({ clock }: Context, tx: Transaction, row: GenerationRow): Promise<void> {
  await updateGeneration(tx, row.id, { upstream_job: null });
  await requeueLocked(tx, row, { reason: '', check_at: clock.now(), attempt: uncounted(row) });
}

/** Taking over the lease interrupted an attempt, which must not count. */
function uncounted({ attempt }: GenerationRow): number {
  return Math.max(0, attempt - 1);
}

async function cancel({ clock }: Context, tx: Transaction, row: GenerationRow): Promise<void> {
  const now = clock.now();
  await endGeneration(tx, row, { state: 'cancelled', reason: 'Cancelled', chargedMicro: 0n, now });
}

/**
 * Throws AppError for a generation that ended without a picture: 'invalid_request' if the model refuses the
 * request, 'unavailable' if it failed, 'conflict' if it was cancelled. Tells clients not to retry: the server
 * has already retried, and a service may have charged its operator.
 */
export function assertCompleted({
  state,
  reason,
  refused,
}: Pick<Generation, 'state' | 'reason' | 'refused'>): void {
  const message = `${reason}. Nothing was charged`;
  const details = { shouldRetry: false };
  if (state === 'failed') throw refused ? invalidRequest(message, details) : unavailable(message, details);
  if (state === 'cancelled') throw conflict(message, details);
}
