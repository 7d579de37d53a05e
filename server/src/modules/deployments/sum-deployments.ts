import type { Context } from '../../platform/context.ts';
import { selectDeployments } from './find-deployments.ts';
import type { DeploymentState } from './kinds/deployment-state.ts';
import type { KindName } from './kinds/kinds.ts';
import { timeCostMicro, usedMs } from './metering/meter-deployment.ts';
import { selectSums } from './queries.ts';
import { viewDeployments } from './read-deployment.ts';

export type DeploymentSums = {
  total: bigint;
  running: number;
  sleeping: number;
  deploying: number;
  failed: bigint;
  requests: bigint;
  promptTokens: bigint;
  completionTokens: bigint;
  costMicro: bigint;
};

/** Returns totals of the caller's deployments of some kinds, including deployments that have ended. */
export async function sumDeployments(
  ctx: Context,
  { kinds }: { kinds: readonly KindName[] },
): Promise<DeploymentSums> {
  const { userId } = ctx.caller;
  const sums = await selectSums(ctx.db, { userId, kinds });
  const live = await selectDeployments(ctx.db, { userId, kinds, includeTerminated: false });
  const states = (await viewDeployments(ctx, live)).map(({ state }) => state);
  const count = (...wanted: DeploymentState[]) => states.filter((state) => wanted.includes(state)).length;
  const open = live
    .filter((row) => row.hold_id !== null)
    .reduce((sum, row) => sum + timeCostMicro(row, usedMs(row, ctx.clock.now())), 0n);
  return {
    total: sums.total,
    running: count('running', 'degraded'),
    sleeping: count('sleeping'),
    deploying: count('queued', 'deploying'),
    failed: sums.failed,
    requests: sums.requests,
    promptTokens: sums.prompt_tokens,
    completionTokens: sums.completion_tokens,
    costMicro: sums.cost_micro + open,
  };
}
