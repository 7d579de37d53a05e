import type { Transaction } from '../platform/db/database.ts';
import { lockWorkload } from './lock-workload.ts';
import { hasEnded } from './model/has-ended.ts';
import { updateWorkload, wakeEngines } from './queries.ts';

/**
 * Transaction step: stops a workload. It saves its work and exits; a waiting one ends immediately. A model
 * server has `drainSeconds` for open requests, by default a few. The first reason is kept. Does nothing if it
 * has ended. Returns whether this call stops it.
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
