import type {
  DiffusionValidation,
  startDiffusionTraining as startDiffusionTrainingEndpoint,
  validateDiffusionTraining as validateDiffusionTrainingEndpoint,
} from '@bakehouse/contract/diffusion-training';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { invalidRequest } from '../../../platform/errors.ts';
import { assertQuotedCost } from '../../billing/prices/cost.ts';
import { spendOnce } from '../../billing/spend-once.ts';
import { createRun, sourceOf } from '../create-run.ts';
import { readSourceNames } from '../slowdown.ts';
import type { TrainingParts } from '../validation/check-fine-tune.ts';
import { checkDiffusionTraining, type DiffusionCheck } from './check-diffusion-training.ts';
import { toPicturesSpec } from './pictures-spec.ts';

/**
 * Creates a model asset and a run that trains its LoRA, holds the quote (at most the ceiling) and queues the
 * run, in one transaction. Throws the errors of `startFineTune`.
 */
export async function startDiffusionTraining(
  ctx: Context,
  parts: TrainingParts,
  { body }: InputOf<typeof startDiffusionTrainingEndpoint>,
  signal: AbortSignal,
): Promise<ResponseOf<typeof startDiffusionTrainingEndpoint>> {
  const { cost_max: costMaxMicro, slowdown, ceiling, title, tags, ...choice } = body;
  // The accepted price and the load do not identify the request: a retry may send others.
  const input = { title, tags, ceiling, ...choice };
  return spendOnce(
    ctx,
    parts.usage,
    { operation: 'start-diffusion-training', input },
    async () => {
      const cpu = await parts.runCpu(ctx.db);
      const check = await checkDiffusionTraining(ctx, parts, choice, {
        cpu: { ...cpu, slowdown: slowdown ?? cpu.slowdown },
        signal,
      });
      assertNoFaults(check);
      return { check, sources: await readSourceNames(ctx, check) };
    },
    async (tx, { check, sources }) => {
      const { base, dataset, place, fields, metadataPath } = check;
      assertQuotedCost({
        micro: check.costMicro,
        maxMicro: costMaxMicro,
        what: 'this run',
        param: 'cost_max',
      });
      const { modelId, runId } = await createRun(tx, ctx, {
        body: {
          ...{ title, tags, category: '', details: '', price: 0n },
          ...{ is_published: false, use_ipfs: false },
        },
        ...{ base, place, now: ctx.clock.now() },
        ...{ dataset: sourceOf(dataset), alsoReads: [dataset.asset.id] },
        spec: toPicturesSpec({
          ...{ title, fields, metadataPath, base, dataset, sources },
          device: place.placement.accelerator === null ? 'cpu' : 'cuda',
        }),
        trained: { kind: 'pictures', fileName: metadataPath, parameters: fields },
        ...{ price: check.price, seconds: check.seconds, flops: check.flops, costMicro: check.costMicro },
        quote: check.validation.cost_estimate.quote,
        ceilingMicro: ceiling,
      });
      return { run_id: runId, model_id: modelId };
    },
  );
}

/** Throws the first fault that the wizard's validation reports. */
function assertNoFaults({ faults: [fault] }: DiffusionCheck): void {
  if (!fault) return;
  throw invalidRequest(fault.message, { param: fault.about ?? undefined });
}

/** Validates a picture run for the wizard. Changes nothing. */
export async function validateDiffusionTraining(
  ctx: Context,
  parts: TrainingParts,
  { body }: InputOf<typeof validateDiffusionTrainingEndpoint>,
  signal: AbortSignal,
): Promise<DiffusionValidation> {
  const asked = { cpu: await parts.runCpu(ctx.db), signal };
  return (await checkDiffusionTraining(ctx, parts, body, asked)).validation;
}
