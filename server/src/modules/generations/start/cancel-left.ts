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

/** Longer than a service may take to report whether it started the job, and to cancel it. */
const CLAIM_MS = 90_000;

/**
 * Cancels a picture whose call has left, at no charge. If a repeated call claims it in the meantime, it
 * continues, with a new job if the service dropped the first. Throws AppError 'not_found', and the errors of
 * `withdrawJob`: a job that the service has started continues and is charged.
 */
export async function cancelLeft(ctx: Context, { id }: { id: string }): Promise<Generation> {
  const token = await inTransaction(ctx.db, async (tx) => {
    const row = await findOwnGeneration(tx, { id, userId: ctx.caller.userId });
    if (row.ended_at !== null || row.left_at === null) return null;
    // A job being submitted cannot be withdrawn; the submitter must first record its handle.
    if (row.upstream_job) return row.upstream_job.handle === null ? null : claim(ctx, tx, row);
    await cancel(ctx, tx, row);
    return null;
  });
  if (token !== null) await withdraw(ctx, { id, token });
  return getGeneration(ctx, { id });
}

/**
 * Takes over the lease: otherwise the worker would see the cancelled job and end the generation as failed.
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

/** Releases the lease so that another worker resumes the job immediately. */
async function letGo({ clock }: Context, tx: Transaction, row: GenerationRow): Promise<void> {
  const free = { lock_token: null, locked_until: null, check_at: clock.now(), attempt: uncounted(row) };
  await updateGeneration(tx, row.id, free);
  await announceGeneration(tx, row, { queueMoved: true });
}

async function beginAgain({ clock }: Context, tx: Transaction, row: GenerationRow): Promise<void> {
  await updateGeneration(tx, row.id, { upstream_job: null });
  await putBack(tx, row, { reason: '', check_at: clock.now(), attempt: uncounted(row) });
}

/** Losing its lease to us must not cost the picture an attempt. */
function uncounted({ attempt }: GenerationRow): number {
  return Math.max(0, attempt - 1);
}

async function cancel({ clock }: Context, tx: Transaction, row: GenerationRow): Promise<void> {
  const now = clock.now();
  await endGeneration(tx, row, { state: 'cancelled', reason: 'Cancelled', chargedMicro: 0n, now });
}
