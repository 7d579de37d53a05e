import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { startExport as endpoint } from '@bakehouse/contract/exports';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { nameRevision } from '../../assets/revisions/name-revision.ts';
import { quote } from '../../credits/prices/quote.ts';
import { refuseHigherCost } from '../../credits/prices/refuse-higher-cost.ts';
import { spendOnce } from '../../credits/spend-once.ts';
import { selectHeldOutAnswers } from '../held-out/queries.ts';
import { makeRun } from '../make-run.ts';
import type { TrainingParts } from '../validation/check-fine-tune.ts';
import { runCostMicro, runItems } from '../validation/estimate-run.ts';
import { estimateExports, exportSeconds } from './estimate-export.ts';
import { exportTitle, toExportSpec } from './export-spec.ts';
import { findObstacle } from './find-obstacle.ts';
import { exportPriceLabel } from './price-label.ts';
import { readExportable } from './read-exportable.ts';

type Body = InputOf<typeof endpoint>['body'];

/**
 * Creates a model asset and a run that merges the fine-tune into its base, holds the quote and queues the
 * run, in one transaction. Throws whatever `readExportable` throws, AppError 'invalid_request' for an
 * unsupported format, 'conflict' if the price rose above the quote, 'insufficient_funds', 'budget_exceeded',
 * or 'idempotency_conflict'.
 */
export async function startExport(
  ctx: Context,
  parts: Pick<TrainingParts, 'usage' | 'runCpu'>,
  { params, body }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const input = { id: params.id, format: body.format };
  return spendOnce(
    ctx,
    parts.usage,
    { operation: 'start-export', input },
    () => prepare(ctx, parts, params.id, body),
    (tx, prepared) => make(tx, ctx, body, prepared),
  );
}

async function prepare(
  ctx: Context,
  { runCpu }: Pick<TrainingParts, 'runCpu'>,
  assetId: string,
  { format }: Body,
) {
  const found = await readExportable(ctx, { assetId });
  const publicMessage = findObstacle(found, format);
  if (publicMessage !== null) throw new AppError('invalid_request', { publicMessage, param: 'format' });
  const estimate = await estimateExports(ctx, found);
  const { slowdown } = await runCpu(ctx.db);
  const { repository } = await nameRevision(ctx, found.fineTune);
  const { card } = await nameRevision(ctx, found.base);
  const answers = (await selectHeldOutAnswers(ctx.db, [found.run.id])).get(found.run.id);
  const said = (key: string) => {
    const value = card?.[key];
    return typeof value === 'string' && value.length <= 500 ? value : null;
  };
  return {
    ...found,
    spec: toExportSpec({
      ...{ ...found, format, repository },
      license: {
        license: said('license'),
        license_name: said('license_name'),
        license_link: said('license_link'),
      },
      prompts: [...(answers?.questions ?? []), ...(answers?.rows ?? []).map(({ question }) => question)],
    }),
    price: estimate.price,
    work: estimate.work[format],
    seconds: exportSeconds(estimate, format, slowdown),
  };
}

async function make(
  tx: Transaction,
  ctx: Context,
  { format, cost_max: maxMicro }: Body,
  { fineTune, base, run, spec, price, work, seconds }: Awaited<ReturnType<typeof prepare>>,
): Promise<ResponseOf<typeof endpoint>> {
  const costMicro = runCostMicro(price, seconds, 1);
  refuseHigherCost({ micro: costMicro, maxMicro, what: 'this export', param: 'cost_max' });
  const { modelId, runId } = await makeRun(tx, ctx, {
    body: {
      ...{ title: exportTitle(fineTune.asset.title, format), tags: fineTune.asset.tags, details: '' },
      ...{ category: 'Artificial intelligence', price: 0n, is_published: false, use_ipfs: false },
    },
    ...{ base: fineTune, dataset: run.dataset, alsoReads: [base.asset.id], now: ctx.clock.now() },
    place: {
      ...{ placement: { accelerator: null, count: 0 }, gpu: null, devices: 1 },
      ...{ priceId: 'training:CPU', priceLabel: exportPriceLabel, description: '' },
    },
    spec,
    trained: { kind: 'export', fileName: null, parameters: { format } },
    ...{ price, seconds, flops: work, costMicro },
    quote: quote(runItems(price, seconds, 1, exportPriceLabel)),
    // Exports offer no other ceiling.
    ceilingMicro: costMicro,
  });
  return { run_id: runId, model_id: modelId };
}
