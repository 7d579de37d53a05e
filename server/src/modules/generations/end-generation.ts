import { setTimeout as pause } from 'node:timers/promises';
import type { Generation } from '@bakehouse/contract/generations';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { watchKey } from '../../platform/http/callers/key-ends.ts';
import { lockStoredBytes } from '../../platform/storage/owner-queries.ts';
import { settle } from '../billing/ledger/holds/holds.ts';
import { notifyOfGeneration } from '../notifications/notify-of-events.ts';
import { announceGeneration } from './announce-generation.ts';
import { getGeneration, lockUserGeneration } from './generations.ts';
import { titleOf } from './media-table.ts';
import {
  deletePreview,
  deleteTurnsOf,
  type GenerationRow,
  hasEnded,
  listGenerationIds,
  removeGeneration,
  updateGeneration,
} from './queries.ts';
import { assertSameJob, withdrawJob } from './services/service-job.ts';
import { deleteUnusedPicturesOf } from './sources/picture-queries.ts';

const BATCH = 100;

/** Polls as well, because an event is lost if the database connection breaks. */
const CHECK_EVERY_MS = 2_000;

type End = {
  state: 'completed' | 'failed' | 'cancelled';
  reason: string;
  /** True if it failed because the model refuses the request. */
  refused?: boolean;
  /** The charge for the outputs; 0 if there are none. */
  chargedMicro: bigint;
  now: Date;
};

/**
 * Returns the generation once it has ended, or in its current state on timeout or abort. Throws AppError
 * 'not_found', and 'unauthenticated' if the API key expires while waiting.
 */
export async function awaitGeneration(
  ctx: Context,
  id: string,
  { ms, signal }: { ms: number; signal?: AbortSignal },
): Promise<Generation> {
  const { userId } = ctx.caller;
  const key = watchKey(ctx);
  const over = AbortSignal.any([AbortSignal.timeout(ms), key.signal, ...(signal ? [signal] : [])]);
  let changed = new AbortController();
  const stop = ctx.events.subscribe(userId, (event) => {
    if (event.topic === 'generation' && event.id === id) changed.abort();
  });
  try {
    for (;;) {
      const change = AbortSignal.any([over, changed.signal]);
      const isUnderWay = (await hasEnded(ctx.db, { id, userId })) === false;
      key.signal.throwIfAborted();
      if (!isUnderWay || over.aborted) return await getGeneration(ctx, { id });
      await pause(CHECK_EVERY_MS, undefined, { signal: change }).catch(() => undefined);
      changed = new AbortController();
    }
  } finally {
    stop();
    key.stop();
  }
}

/**
 * Step: ends a locked generation, charges for its outputs and releases the rest of the hold. If the hold has
 * already expired, nothing is charged.
 */
export async function endGeneration(tx: Transaction, row: GenerationRow, end: End): Promise<void> {
  const ended = {
    state: end.state,
    reason: end.reason,
    refused: end.refused ?? false,
    ended_at: end.now,
    lock_token: null,
    locked_until: null,
  };
  await updateGeneration(tx, row.id, { ...ended, charged_micro: end.chargedMicro });
  await deletePreview(tx, row.id);
  await announceGeneration(tx, row, { queueMoved: true });
  await notifyOfGeneration(tx, {
    ...{ userId: row.user_id, generationId: row.id, generator: titleOf(row) },
    ...{ state: end.state, askedAt: row.created_at, endedAt: end.now },
  });
  try {
    // Lock the ledger last: it blocks the user's other calls.
    await settle(tx, { holdId: row.hold_id, amountMicro: end.chargedMicro });
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
    await updateGeneration(tx, row.id, { charged_micro: 0n });
  }
}

/**
 * Cancels a generation at no charge; does nothing if it has ended. The process that runs it loses its lease.
 * Throws AppError 'not_found', and the errors of `withdrawJob`: a job that the service has already started
 * continues and is charged.
 */
export async function cancelGeneration(ctx: Context, { id }: { id: string }): Promise<Generation> {
  const withdrawn = await withdrawJob(ctx, { id });
  await inTransaction(ctx.db, async (tx) => {
    const row = await lockUserGeneration(tx, { id, userId: ctx.caller.userId });
    if (row.ended_at !== null) return;
    assertSameJob(row, withdrawn);
    const now = ctx.clock.now();
    await endGeneration(tx, row, {
      state: 'cancelled',
      reason: 'Cancelled',
      chargedMicro: 0n,
      now,
    });
  });
  return getGeneration(ctx, { id });
}

/**
 * Deletes a generation and its outputs; cancels a running one at no charge. Throws AppError 'not_found', and
 * the errors of `withdrawJob`: a job that the service has already started can only be deleted once it is
 * done.
 */
export async function deleteGeneration(
  ctx: Pick<Context, 'config' | 'db' | 'clock' | 'caller'>,
  { id }: { id: string },
): Promise<void> {
  const { userId } = ctx.caller;
  const withdrawn = await withdrawJob(ctx, { id });
  await inTransaction(ctx.db, async (tx) => {
    const row = await lockUserGeneration(tx, { id, userId });
    const now = ctx.clock.now();
    if (row.ended_at === null) {
      assertSameJob(row, withdrawn);
      // Deleting the row also reduces the user's stored bytes, which must be locked before the ledger.
      await lockStoredBytes(tx, userId);
      await endGeneration(tx, row, { state: 'cancelled', reason: 'Deleted', chargedMicro: 0n, now });
    }
    await removeGeneration(tx, id);
    await publishChange(tx, userId, { topic: 'generation', id });
  });
}

type Deleting = Pick<Context, 'config' | 'db' | 'clock' | 'caller' | 'log'>;

/**
 * Deletes the caller's generations, queue turns, and pictures uploaded for editing. Cancels running
 * generations. Generations that a service has already started remain until a later call, because they are
 * still to be charged.
 */
export async function deleteGenerations(ctx: Context): Promise<void> {
  let deleted: number;
  do {
    deleted = 0;
    for (const id of await listGenerationIds(ctx.db, ctx.caller.userId, BATCH))
      if (await tryToDelete(ctx, id)) deleted += 1;
  } while (deleted > 0);
  await deleteTurnsOf(ctx.db, ctx.caller.userId);
  await deleteUnusedPicturesOf(ctx.db, ctx.caller.userId);
}

/** Deletes the caller's generations requested before a given time; cancels running ones. */
export async function deleteGenerationsBefore(ctx: Deleting, before: Date): Promise<void> {
  let ids: string[];
  do {
    ids = await listGenerationIds(ctx.db, ctx.caller.userId, BATCH, before);
    for (const id of ids) await deleteGeneration(ctx, { id });
  } while (ids.length === BATCH);
}

async function tryToDelete(ctx: Deleting, id: string): Promise<boolean> {
  try {
    await deleteGeneration(ctx, { id });
    return true;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // The service has already started the job, or cannot be reached.
    ctx.log.info({ err: error, generation_id: id }, 'deferred deletion of generation');
    return false;
  }
}
