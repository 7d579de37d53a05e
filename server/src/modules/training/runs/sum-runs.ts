import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import { type runStats as endpoint, type RunFilter, runFilters } from '@bakehouse/contract/runs';
import type { Context } from '../../../platform/context.ts';
import { selectRunSums } from '../queries.ts';

/** Returns the caller's number of runs by final state, and their cost. */
export async function sumRuns(
  ctx: Context,
  { query }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const sums = await selectRunSums(ctx.db, ctx.caller.userId, query.kind);
  const count = (name: RunFilter) => Number(sums.find(({ ended_as }) => ended_as === name)?.count ?? 0n);
  const total = (of: 'cost_micro' | 'held_micro') => sums.reduce((sum, row) => sum + row[of], 0n);
  return {
    ...(Object.fromEntries(runFilters.map((name) => [name, count(name)])) as Record<RunFilter, number>),
    cost: formatBgl(total('cost_micro')),
    held: formatBgl(total('held_micro')),
  };
}
