import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { listRuns as endpoint } from '@bakehouse/contract/training';
import { findWorkloads } from '../../engine/queries.ts';
import type { Context } from '../../platform/context.ts';
import { selectRuns } from './queries.ts';
import { toRun } from './to-run.ts';

/** The caller's runs, newest first. */
export async function listRuns(
  ctx: Context,
  { query }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { model_id: modelAssetId, limit } = query;
  const runs = await selectRuns(ctx.db, { userId: ctx.caller.userId, modelAssetId, limit });
  const workloads = await findWorkloads(
    ctx.db,
    runs.map(({ id }) => id),
  );
  return {
    runs: runs.flatMap((run) => {
      const workload = workloads.get(run.id);
      return workload ? [toRun(run, workload)] : [];
    }),
  };
}
