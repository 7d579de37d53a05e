import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { listRuns as endpoint } from '@bakehouse/contract/runs';
import { findWorkloads } from '../../../engine/find-workloads.ts';
import type { Context } from '../../../platform/context.ts';
import { readSnapshot } from '../../../platform/db/read-snapshot.ts';
import { recently } from '../../../platform/recently.ts';
import { unknownCursor } from '../../../platform/unknown-cursor.ts';
import { findRun, selectRuns } from '../queries.ts';
import { toRun } from './to-run.ts';

/** Returns the caller's runs, newest first or by name. The cursor is the last id of the previous page. */
export async function listRuns(
  ctx: Context,
  { query }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { model_id: modelAssetIds, kind, recent, search, state, sort, cursor, limit } = query;
  return readSnapshot(ctx.db, async (tx) => {
    if (cursor !== undefined && (await findRun(tx, cursor))?.userId !== ctx.caller.userId) {
      throw unknownCursor();
    }
    const found = await selectRuns(tx, {
      userId: ctx.caller.userId,
      kind,
      modelAssetIds,
      endedSince: recent ? recently(ctx.clock.now()) : undefined,
      search,
      state,
      sort,
      cursor,
      limit: limit + 1,
    });
    const runs = found.slice(0, limit);
    const workloads = await findWorkloads(
      tx,
      runs.map(({ id }) => id),
    );
    return {
      runs: runs.flatMap((run) => {
        const workload = workloads.get(run.id);
        return workload ? [toRun(ctx.config, run, workload)] : [];
      }),
      next_cursor: found.length > limit ? (runs.at(-1)?.id ?? null) : null,
    };
  });
}
