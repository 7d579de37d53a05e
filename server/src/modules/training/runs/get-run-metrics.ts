import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { getRunMetrics as endpoint } from '@bakehouse/contract/runs';
import { selectMetrics } from '../../../engine/reports/select-metrics.ts';
import type { Context } from '../../../platform/context.ts';
import { findOwnRun } from './find-own-run.ts';

/** Returns a run's metrics by step, or only new ones. */
export async function getRunMetrics(
  ctx: Context,
  { params, query }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { run } = await findOwnRun(ctx.db, { runId: params.runId, userId: ctx.caller.userId });
  const after = query.after === undefined ? undefined : new Date(query.after);
  const points = await selectMetrics(ctx.db, run.id, { after });
  return { points: points.map(({ step, at, values }) => ({ step, at: at.toISOString(), values })) };
}
