import type { createAsset } from '@bakehouse/contract/assets';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { FineTunePayload } from '@bakehouse/contract/fine-tuning';
import type { TrainingSources } from '@bakehouse/contract/runtime/train-spec';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { invalidParam } from '../../platform/errors.ts';
import { isUuid } from '../../platform/is-uuid.ts';
import { findClonedAsset } from '../assets/sources/sources.ts';
import { assertQuotedCost } from '../billing/prices/cost.ts';
import { spendOnce } from '../billing/spend-once.ts';
import { cloneHubBase } from './cloning/hub-base.ts';
import { createRun, type NewModel, sourceOf } from './create-run.ts';
import { type SettledFields, toTrainSpec, withDefaults, withDetectedFormat } from './fine-tune-spec.ts';
import { insertJob, type JobRow } from './openai-jobs/job-queries.ts';
import { readSourceNames } from './slowdown.ts';
import {
  checkFineTune,
  type FineTuneCheck,
  type FineTuneRequest,
  type TrainingParts,
} from './validation/check-fine-tune.ts';

const PAYLOAD = 'fine_tune_payload';

type Body = InputOf<typeof createAsset>['body'];

/** The data of a job of OpenAI's API, with its validation file if it has one. */
type StartedJob = Omit<JobRow, 'runId'> & { validation: FineTuneRequest['validation'] };

/**
 * Creates a model asset and its run, holds the quote (at most the ceiling) and queues the run, in one
 * transaction. If the base model is on the public hub, it is cloned first and the run waits for the clone.
 * Returns the asset's id. Throws AppError('invalid_request') with the first fault, 'conflict' if the price
 * rose above the quote, 'not_found' if a source was deleted or unshared in the meantime,
 * 'insufficient_funds', 'budget_exceeded', or 'idempotency_conflict'.
 */
export async function startFineTune(
  ctx: Context,
  parts: TrainingParts,
  body: Body,
  payload: FineTunePayload,
  signal: AbortSignal,
  job: StartedJob | null = null,
): Promise<string> {
  // The accepted price and the load do not identify the request: a retry may send others.
  const { cost_max: costMaxMicro, slowdown: _, ...asked } = payload;
  const input = { ...body, fine_tune_payload: asked, ...(job && { job }) };
  const { id } = await spendOnce(
    ctx,
    parts.usage,
    { operation: 'start-fine-tune', input },
    async () => {
      const based = await withHubModel(ctx, payload);
      const validation = job?.validation ?? null;
      const check = await checkStart(ctx, parts, { payload: based, validation, signal });
      return { check, sources: await readSourceNames(ctx, check) };
    },
    async (tx, { check, sources }) => {
      assertQuotedCost({
        micro: check.costMicro,
        maxMicro: costMaxMicro,
        what: 'this run',
        param: `${PAYLOAD}.cost_max`,
      });
      const { modelId } = await makeFineTune(tx, ctx, { body, payload, check, sources, job });
      return { id: modelId };
    },
  );
  return id;
}

type Start = {
  body: NewModel;
  payload: FineTunePayload;
  check: FineTuneCheck;
  sources: TrainingSources;
  job: StartedJob | null;
};

/** Step: creates the run of a fine-tune and its model. Throws the errors of `createRun`. */
async function makeFineTune(
  tx: Transaction,
  ctx: Context,
  { body, payload, check, sources: named, job }: Start,
): Promise<{ modelId: string }> {
  const { hubBase, dataset, heldOut: validation, place } = check;
  const now = ctx.clock.now();
  const base = hubBase ? await cloneHubBase(tx, { userId: ctx.caller.userId, now }, hubBase) : check.base;
  const fields = withDefaults(withDetectedFormat(payload, check.validation.data?.format));
  const made = await createRun(tx, ctx, {
    ...{ body, base, validation, place, now },
    clones: hubBase?.repoId ?? null,
    dataset: sourceOf(dataset),
    alsoReads: [dataset, ...(validation ? [validation] : [])].map(({ asset }) => asset.id),
    spec: toTrainSpec({
      title: body.title,
      fields,
      base,
      dataset,
      validation,
      sources: named,
      placement: place.placement,
      now,
    }),
    trained: {
      kind: 'text',
      fileName: payload.file_name,
      parameters: parametersOf(fields, check.validation.data?.tied_embeddings === true),
    },
    ...{ price: check.price, seconds: check.seconds, flops: check.flops, costMicro: check.costMicro },
    memoryBytes: check.memoryBytes,
    quote: check.validation.cost_estimate.quote,
    ceilingMicro: payload.ceiling,
  });
  if (job) await insertJob(tx, { runId: made.runId, userId: ctx.caller.userId, ...job });
  return made;
}

type ToCheck = {
  payload: FineTunePayload;
  validation: FineTuneRequest['validation'];
  signal: AbortSignal;
};

/** Validates a fine-tune as the wizard does. Throws the first fault. */
async function checkStart(
  ctx: Context,
  parts: TrainingParts,
  { payload, validation, signal }: ToCheck,
): Promise<FineTuneCheck> {
  const cpu = await parts.runCpu(ctx.db);
  const check = await checkFineTune(ctx, parts, {
    datasetId: payload.asset_id,
    baseModelId: payload.base_model,
    validation,
    gpu: { type: payload.accelerator_type, count: payload.accelerator_count },
    fields: payload,
    cpu: { ...cpu, slowdown: payload.slowdown ?? cpu.slowdown },
    signal,
    // Do not read a long file to its end: the run counts its rows itself.
    readsOn: false,
    params: { dataset: `${PAYLOAD}.asset_id`, base: `${PAYLOAD}.base_model` },
  });
  const [fault] = check.faults;
  if (!fault) return check;
  const { message: publicMessage, about } = fault;
  const param = about === null ? PAYLOAD : about === 'validation_file' ? about : `${PAYLOAD}.${about}`;
  throw invalidParam(param, publicMessage);
}

/**
 * Returns the parameters to show. lm_head is left out if it shares its weights with the input embeddings,
 * because it is not trained then.
 */
function parametersOf(
  {
    asset_id,
    base_model,
    hf_model_id,
    file_name,
    user_id,
    ceiling,
    cost_max,
    slowdown,
    lora_target_modules: modules,
    ...parameters
  }: FineTunePayload & SettledFields,
  isHeadTied: boolean,
) {
  const trained = modules.filter((name) => !(isHeadTied && name === 'lm_head'));
  return { ...parameters, lora_target_modules: trained };
}

/**
 * Returns the payload with a base model that is either the id of an asset, or a hub name if the caller has no
 * clone of it. Throws AppError 'invalid_request' for an unknown id.
 */
async function withHubModel(ctx: Context, payload: FineTunePayload): Promise<FineTunePayload> {
  const { hf_model_id: repoId, ...rest } = payload;
  if (repoId === undefined) {
    if (!isUuid(rest.base_model)) throw invalidParam('fine_tune_payload.base_model', 'No model has this id');
    return rest;
  }
  const cloned = await findClonedAsset(ctx.db, { userId: ctx.caller.userId, repoId, type: 'model' });
  return { ...rest, base_model: cloned ?? repoId };
}
