import type { InputOf } from '@bakehouse/contract/endpoint';
import type { getRun as endpoint, Run } from '@bakehouse/contract/runs';
import type { Context } from '../../../platform/context.ts';
import { findOwnRun } from './find-own-run.ts';
import { toRun } from './to-run.ts';

/** Returns one run of the caller. */
export async function getRun(ctx: Context, { params }: InputOf<typeof endpoint>): Promise<Run> {
  const { run, workload } = await findOwnRun(ctx.db, { runId: params.runId, userId: ctx.caller.userId });
  return toRun(ctx.config, run, workload);
}
