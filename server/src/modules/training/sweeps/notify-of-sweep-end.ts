import { findWorkloads } from '../../../engine/find-workloads.ts';
import { hasEnded } from '../../../engine/model/has-ended.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { notify } from '../../notifications/notify.ts';
import { type RunRow, selectSweptRuns } from '../queries.ts';
import { lockSweep } from './sweep-queries.ts';

/** Step: notifies the owner of a sweep once none of its runs is under way: of sixteen one by one nobody wants to hear. */
export async function notifyOfSweepEnd(
  tx: Transaction,
  userId: string,
  { id, title }: NonNullable<RunRow['sweep']>,
): Promise<void> {
  // Of two that end at once the later one sees both.
  await lockSweep(tx, id);
  const runs = await selectSweptRuns(tx, [id]);
  const found = await findWorkloads(
    tx,
    runs.map((run) => run.id),
  );
  const workloads = [...found.values()];
  if (!workloads.every(hasEnded)) return;
  const completed = workloads.filter(({ state }) => state === 'completed').length;
  const data = { sweep_id: id, title, completed, runs: workloads.length };
  await notify(tx, { userId, kind: 'sweep_ended', data });
}
