import type { Transaction } from '../platform/db/database.ts';
import { lockWorkload } from './lock-workload.ts';
import { hasEnded } from './model/has-ended.ts';
import { updateWorkload, wakeEngines } from './queries.ts';

/**
 * Step: wants a workload to stop. It saves its work and ends; one that waits ends at once. A model server
 * has `drainSeconds` for the requests that it has taken, by default a few. The first reason stays. Does
 * nothing to one that has ended. Returns whether it is this that stops it.
 */
export async function stopWorkload(
  tx: Transaction,
  { id, reason, drainSeconds = 0, now }: { id: string; reason: string; drainSeconds?: number; now: Date },
): Promise<boolean> {
  const workload = await lockWorkload(tx, id);
  if (!workload || hasEnded(workload) || workload.wanted === 'stopped') return false;
  await wakeEngines(tx);
  await updateWorkload(tx, id, {
    wanted: 'stopped',
    stopRequestedAt: now,
    stopReason: reason,
    drainSeconds,
    checkAt: now,
  });
  return true;
}
