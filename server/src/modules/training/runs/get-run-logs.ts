import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { getRunLogs as endpoint } from '@bakehouse/contract/runs';
import { cutHostPaths } from '../../../engine/host/cut-host-paths.ts';
import { selectLogLines } from '../../../engine/reports/select-log-lines.ts';
import type { Context } from '../../../platform/context.ts';
import { findOwnRun } from './find-own-run.ts';

/** Returns the last lines of a run's log, oldest first. */
export async function getRunLogs(
  ctx: Context,
  { params, query }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { run } = await findOwnRun(ctx.db, { runId: params.runId, userId: ctx.caller.userId });
  const lines = await selectLogLines(ctx.db, run.id, query.limit);
  return {
    lines: lines.map(({ at, line }) => ({ at: at.toISOString(), line: cutHostPaths(ctx.config, line) })),
  };
}
