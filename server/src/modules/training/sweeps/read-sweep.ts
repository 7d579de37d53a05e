import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import type { TextRun } from '@bakehouse/contract/runs';
import type { Sweep, SweptRun } from '@bakehouse/contract/sweeps';
import { findWorkloads } from '../../../engine/find-workloads.ts';
import { selectPointsWith } from '../../../engine/reports/select-points-with.ts';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { selectSweptRuns } from '../queries.ts';
import { toRun } from '../runs/to-run.ts';
import { findOwnSweep } from './find-own-sweep.ts';
import { chooseBest, HELD_OUT, heldOutOf, heldOutRows, measureOf } from './measure-runs.ts';
import { sumMicro } from './sum-micro.ts';

/** Step: a sweep of the caller with its runs, as the wire shows it. Throws AppError('not_found') for any other. */
export async function readSweep(tx: Transaction, ctx: Context, sweepId: string): Promise<Sweep> {
  const sweep = await findOwnSweep(tx, { sweepId, userId: ctx.caller.userId });
  const rows = await selectSweptRuns(tx, [sweepId]);
  const ids = rows.map(({ id }) => id);
  const workloads = await findWorkloads(tx, ids);
  const points = await selectPointsWith(tx, ids, HELD_OUT);
  const runs = rows.flatMap((row): SweptRun[] => {
    const workload = workloads.get(row.id);
    const run = workload && toRun(ctx.config, row, workload);
    if (run?.kind !== 'text') return [];
    return [{ ...run, held_out: heldOutOf(points.get(row.id) ?? [], run.parameters.objective) }];
  });
  const measure = measureOf(runs[0]?.parameters.objective ?? 'sft', sweep.parameters);
  const held_out_rows = heldOutRows([...points.values()].flat());
  return {
    sweep_id: sweep.id,
    user_id: sweep.userId,
    title: sweep.title,
    parameters: sweep.parameters,
    runs: runs.sort(byValues(sweep.parameters)),
    held_out_rows,
    measure,
    best_run_id: chooseBest(runs, measure, held_out_rows),
    cost_so_far: formatBgl(sumMicro(runs, (run) => parseBgl(run.cost_so_far))),
    held: formatBgl(sumMicro(runs, (run) => parseBgl(run.held))),
    created_at: sweep.createdAt.toISOString(),
  };
}

/** Ascending by the first parameter, then by the second. */
function byValues(parameters: Sweep['parameters']) {
  return (one: Pick<TextRun, 'parameters'>, other: Pick<TextRun, 'parameters'>) => {
    const name = parameters.find((parameter) => one.parameters[parameter] !== other.parameters[parameter]);
    return name ? (one.parameters[name] ?? 0) - (other.parameters[name] ?? 0) : 0;
  };
}
