import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { listRuns as endpoint } from '@bakehouse/contract/training';
import { findWorkloads } from '../../engine/queries.ts';
import type { Context } from '../../platform/context.ts';
import { readSnapshot } from '../../platform/db/read-snapshot.ts';
import { selectRuns } from './queries.ts';
import { toRun } from './to-run.ts';

/** The caller's runs, newest first. */
export async function listRuns(
  ctx: Context,
  { query }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { model_id: modelAssetId, limit } = query;
  return readSnapshot(ctx.db, async (tx) => {
    const runs = await selectRuns(tx, { userId: ctx.caller.userId, modelAssetId, limit });
    const workloads = await findWorkloads(
      tx,
      runs.map(({ id }) => id),
    );
    return {
      runs: runs.flatMap((run) => {
        const workload = workloads.get(run.id);
        return workload ? [toRun(ctx.config, run, workload)] : [];
      }),
    };
  });
}
