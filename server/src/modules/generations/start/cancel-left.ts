import { randomUUID } from 'node:crypto';
import type { Generation } from '@bakehouse/contract/generations';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { underLease } from '../../../platform/leases/under-lease.ts';
import { announceGeneration } from '../announce-generation.ts';
import { endGeneration } from '../end-generation.ts';
import { findOwnGeneration } from '../find-own-generation.ts';
import { getGeneration } from '../get-generation.ts';
import { type GenerationRow, updateGeneration } from '../queries.ts';
import { generationsTable } from '../run/generations-table.ts';
import { putBack } from '../run/settle-generation.ts';
import { withdrawJob } from '../services/service-job.ts';

/** Longer than a service may take to answer whether it had begun, and to cancel. */
const CLAIM_MS = 90_000;

/**
 * Cancels a picture that its call has left, which costs nothing then. Where the same call repeated takes it over meanwhile
 * it goes on, by a new job if the service has given up the first. Throws AppError 'not_found', and what `withdrawJob` throws: what a
 * service has begun goes on, and is charged.
 */
export async function cancelLeft(ctx: Context, { id }: { id: string }): Promise<Generation> {
  const token = await inTransaction(ctx.db, async (tx) => {
    const row = await findOwnGeneration(tx, { id, userId: ctx.caller.userId });
    if (row.ended_at !== null || row.left_at === null) return null;
    // While it is submitted nobody can take it back, and whoever submits it has to note what has begun.
    if (row.upstream_job) return row.upstream_job.handle === null ? null : claim(ctx, tx, row);
    await cancel(ctx, tx, row);
    return null;
  });
  if (token !== null) await withdraw(ctx, { id, token });
  return getGeneration(ctx, { id });
}

/** From here on whoever generates it does not: what the service says of a job that is cancelled there would end it as failed. */
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

/** Another goes on with its job at once. */
async function letGo({ clock }: Context, tx: Transaction, row: GenerationRow): Promise<void> {
  const free = { lock_token: null, locked_until: null, check_at: clock.now(), attempt: uncounted(row) };
  await updateGeneration(tx, row.id, free);
  await announceGeneration(tx, row, { queueMoved: true });
}

async function beginAgain({ clock }: Context, tx: Transaction, row: GenerationRow): Promise<void> {
  await updateGeneration(tx, row.id, { upstream_job: null });
  await putBack(tx, row, { reason: '', check_at: clock.now(), attempt: uncounted(row) });
}

/** That it was taken from whoever generated it is no fault of the picture. */
function uncounted({ attempt }: GenerationRow): number {
  return Math.max(0, attempt - 1);
}

async function cancel({ clock }: Context, tx: Transaction, row: GenerationRow): Promise<void> {
  const now = clock.now();
  await endGeneration(tx, row, { state: 'cancelled', reason: 'Cancelled', chargedMicro: 0n, now });
}
