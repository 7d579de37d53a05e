import { type Transaction, toJson } from '../platform/db/database.ts';
import { insertInputs } from './files/file-queries.ts';
import { lockWorkload } from './lock-workload.ts';
import { hasEnded } from './model/has-ended.ts';
import type { Outcome, WorkloadSpec } from './model/workload.ts';
import { updateWorkload, wakeEngines } from './queries.ts';

/** `notBefore` of a workload that waits for `releaseWorkload`. */
export const UNTIL_RELEASED = new Date('9999-01-01');

/**
 * Transaction step: lets a resting workload begin, with its complete spec. Returns false if it has ended or
 * is to stop.
 */
export async function releaseWorkload(
  tx: Transaction,
  { id, spec, now }: { id: string; spec: WorkloadSpec; now: Date },
): Promise<boolean> {
  if (!(await lockResting(tx, id))) return false;
  await tx
    .updateTable('workloads')
    .set({ spec: toJson(spec) })
    .where('id', '=', id)
    .execute();
  await insertInputs(tx, id);
  await updateWorkload(tx, id, { notBefore: now, queuedAt: now, checkAt: now, reason: '' });
  await wakeEngines(tx);
  return true;
}

/** Transaction step: ends a resting workload as failed. Does nothing if it has ended or is to stop. */
export async function failResting(
  tx: Transaction,
  { id, reason, now }: { id: string; reason: string; now: Date },
): Promise<void> {
  if (!(await lockResting(tx, id))) return;
  const outcome: Outcome = { type: 'failed', message: reason, seq: 1, at: now.toISOString() };
  await updateWorkload(tx, id, { wanted: 'stopped', stopRequestedAt: now, outcome, checkAt: now });
  await wakeEngines(tx);
}

async function lockResting(tx: Transaction, id: string): Promise<boolean> {
  const workload = await lockWorkload(tx, id);
  return workload !== null && !hasEnded(workload) && workload.wanted === 'running';
}
