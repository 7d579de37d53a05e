import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { smallerAmount } from '@bakehouse/contract/money';
import { type Combination, nameCombination } from '@bakehouse/contract/sweep-axes';
import type { startSweep as endpoint } from '@bakehouse/contract/sweeps';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { refuseLackOfCredit } from '../../credits/ledger/holds/refuse-lack-of-credit.ts';
import { refuseHigherCost } from '../../credits/prices/refuse-higher-cost.ts';
import { spendOnce } from '../../credits/spend-once.ts';
import { usualCeilingMicro } from '../charges/ceiling.ts';
import { nameSources } from '../name-sources.ts';
import { makeFineTune } from '../start-fine-tune.ts';
import type { TrainingParts } from '../validation/check-fine-tune.ts';
import { checkSweep, type SweepCheck } from './check-sweep.ts';
import { sumMicro } from './sum-micro.ts';
import { insertSweep } from './sweep-queries.ts';

type Body = InputOf<typeof endpoint>['body'];
type Sources = Awaited<ReturnType<typeof nameSources>>;

/**
 * Starts a fine-tune for each combination of the values: a model, a run and a hold for each, in one transaction, so that all of
 * them start or none. Throws AppError('invalid_request') with the first thing that stands in the way of any of them, 'conflict'
 * where they cost more than they were quoted at, 'not_found' when a source was deleted or closed to the user meanwhile,
 * 'insufficient_funds' with the sum of all holds, 'budget_exceeded', or 'idempotency_conflict'.
 */
export async function startSweep(
  ctx: Context,
  parts: TrainingParts,
  { body }: InputOf<typeof endpoint>,
  http: Pick<Http, 'reply'>,
): Promise<ResponseOf<typeof endpoint>> {
  // Asked for again at a new price or load it is the same sweep.
  const { cost_max, slowdown: _, ...asked } = body.fine_tune_payload;
  const input = { ...body, fine_tune_payload: asked };
  return spendOnce(
    ctx,
    parts.usage,
    { operation: 'start-sweep', input },
    async () => {
      const { runs, faults } = await checkSweep(ctx, parts, body, http);
      const [fault] = faults;
      if (fault) throw new AppError('invalid_request', { publicMessage: fault.message, param: fault.param });
      return { runs, sources: await nameSources(ctx, runs[0].check) };
    },
    async (tx, { runs, sources }) => {
      refuseHigherCost({
        micro: sumMicro(runs, ({ check }) => check.costMicro),
        maxMicro: cost_max,
        what: 'this sweep',
        param: 'fine_tune_payload.cost_max',
      });
      return makeSweep(tx, ctx, body, runs, sources);
    },
  );
}

async function makeSweep(
  tx: Transaction,
  ctx: Context,
  { title, tags, axes, fine_tune_payload: { ceiling } }: Body,
  runs: SweepCheck['runs'],
  sources: Sources,
): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  const heldMicro = sumMicro(runs, ({ check: { costMicro } }) =>
    smallerAmount(costMicro, ceiling ?? usualCeilingMicro(costMicro)),
  );
  await refuseLackOfCredit(tx, { userId, amountMicro: heldMicro });
  const parameters = axes.map(({ parameter }) => parameter);
  const id = await insertSweep(tx, { userId, title, parameters, createdAt: ctx.clock.now() });
  const run_ids: string[] = [];
  for (const { combination, payload, check } of runs) {
    const body = {
      ...{ title: titleOf(title, combination), tags, details: '', category: 'Artificial intelligence' },
      ...{ price: 0n, is_published: false, use_ipfs: false },
    };
    const made = await makeFineTune(tx, ctx, { body, payload, check, sources, sweep: { id, title } });
    run_ids.push(made.runId);
  }
  return { sweep_id: id, run_ids };
}

/** What a run and its model are called: the name of the sweep is cut where both are too long. */
function titleOf(title: string, combination: Combination): string {
  const values = `: ${nameCombination(combination)}`;
  const room = NAME_LENGTH_MAX - values.length;
  return `${title.length > room ? `${title.slice(0, room - 1)}…` : title}${values}`;
}
