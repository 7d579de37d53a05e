import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import type { Run } from '@bakehouse/contract/runs';
import type { listSweeps as endpoint, ListedSweep } from '@bakehouse/contract/sweeps';
import { findWorkloads } from '../../../engine/find-workloads.ts';
import type { Context } from '../../../platform/context.ts';
import { readSnapshot } from '../../../platform/db/read-snapshot.ts';
import { unknownCursor } from '../../../platform/unknown-cursor.ts';
import { selectSweptRuns } from '../queries.ts';
import { toRun } from '../runs/to-run.ts';
import { sumMicro } from './sum-micro.ts';
import { findSweep, type SweepRow, selectSweeps } from './sweep-queries.ts';

/** A page of the caller's sweeps, newest first; the cursor is the last one of the page before. */
export async function listSweeps(
  ctx: Context,
  { query: { search, cursor, limit } }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  return readSnapshot(ctx.db, async (tx) => {
    if (cursor !== undefined && (await findSweep(tx, cursor))?.userId !== userId) throw unknownCursor();
    const found = await selectSweeps(tx, { userId, search, cursor, limit: limit + 1 });
    const page = found.slice(0, limit);
    const rows = await selectSweptRuns(
      tx,
      page.map(({ id }) => id),
    );
    const workloads = await findWorkloads(
      tx,
      rows.map(({ id }) => id),
    );
    const runsOf = (sweepId: string) =>
      rows
        .filter(({ sweep }) => sweep?.id === sweepId)
        .flatMap((row) => {
          const workload = workloads.get(row.id);
          return workload ? [toRun(ctx.config, row, workload)] : [];
        });
    return {
      sweeps: page.map((sweep) => toListed(sweep, runsOf(sweep.id))),
      next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
    };
  });
}

function toListed({ id, title, parameters, createdAt }: SweepRow, runs: Run[]): ListedSweep {
  return {
    ...{ sweep_id: id, title, parameters, created_at: createdAt.toISOString() },
    runs: runs.map(({ run_id, state }) => ({ run_id, state })),
    cost_so_far: formatBgl(sumMicro(runs, (run) => parseBgl(run.cost_so_far))),
  };
}
