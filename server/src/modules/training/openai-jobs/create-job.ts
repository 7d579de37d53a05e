import { createAsset } from '@bakehouse/contract/assets';
import type { InputOf } from '@bakehouse/contract/endpoint';
import {
  ANSWERS_AUTO,
  EPOCHS_AUTO,
  type createFineTuningJob as endpoint,
  type FineTuningJob,
  LEARNING_RATES,
} from '@bakehouse/contract/fine-tuning-jobs';
import type { Objective } from '@bakehouse/contract/limits';
import { formatBgl } from '@bakehouse/contract/money';
import { fineTunePayload } from '@bakehouse/contract/training';
import type * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { AppError, refused } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { findReadableAsset } from '../../assets/access/find-readable-asset.ts';
import type { FileRow } from '../../datasets/openai-files/file-queries.ts';
import { findFile } from '../../datasets/openai-files/find-file.ts';
import { listRuns } from '../runs/list-runs.ts';
import { startFineTune } from '../start-fine-tune.ts';
import type { TrainingParts } from '../validation/check-fine-tune.ts';
import { findBase } from './find-base.ts';
import { toOneJob } from './read-jobs.ts';
import { toRewards } from './to-rewards.ts';

type Body = InputOf<typeof endpoint>['body'];
type Method = NonNullable<Body['method']>;
type Asked = NonNullable<NonNullable<Method['dpo']>['hyperparameters']>;
type Reinforcement = NonNullable<Method['reinforcement']>;

/** Share of rows to train on without a validation file. The held-out rest selects the best checkpoint. */
const TRAINED_PART = 0.9;
/** Default rows per batch, among which KTO compares answers. */
const KTO_BATCH_AUTO = 4;
const METHODS = ['supervised', 'dpo', 'reinforcement', 'kto'] as const;
/** Part of the new model's title for the base's title. */
const BASE_TITLE_LENGTH_MAX = 120;

/**
 * Starts a run like the web app does: validates the file, holds the quote and queues the run, or does
 * nothing. Throws whatever `startFineTune` throws, with the job's field names.
 */
export async function createJob(
  ctx: Context,
  parts: TrainingParts,
  { body }: InputOf<typeof endpoint>,
  http: Pick<Http, 'reply'>,
): Promise<FineTuningJob> {
  const { userId } = ctx.caller;
  const integrations = body.integrations ?? [];
  if (integrations.length > 0)
    await parts.requireTracker(ctx.db, { userId, service: 'wandb', param: 'integrations' });
  const parameters = toParameters(body);
  const file = await findTrainable(ctx, body.training_file, 'training_file');
  const validation = await findValidation(ctx, body, file);
  const baseId = await findBase(ctx, body.model).catch(ofJob);
  const base = await findReadableAsset(ctx.db, { assetId: baseId, userId, param: 'model' });
  const suffix = body.suffix || null;
  const title = `${base.title.slice(0, BASE_TITLE_LENGTH_MAX)} ${suffix ?? 'fine-tune'}`;
  const payload = fineTunePayload.parse({
    ...{ asset_id: file.asset_id, file_name: file.path, base_model: baseId, model_name: title },
    ...{ user_id: userId, train_test_split: TRAINED_PART, seed: body.seed ?? undefined },
    ceiling: body.ceiling == null ? undefined : formatBgl(body.ceiling),
    ...parameters,
  });
  const asset = createAsset.body?.parse({ dataset_type: 'MODEL', title, user_id: userId });
  if (!asset) throw new Error('createAsset has no body schema');
  const reinforcement = body.method?.reinforcement ?? null;
  const job = {
    ...{ suffix, metadata: body.metadata ?? null, validation, integrations },
    reinforcement: reinforcement && {
      grader: reinforcement.grader,
      response_format: reinforcement.response_format ?? null,
    },
  };
  const modelId = await startFineTune(ctx, parts, asset, payload, http, job).catch(ofJob);
  const query = { model_id: [modelId], limit: 1 };
  const [run] = (await listRuns(ctx, { query, params: undefined, body: undefined })).runs;
  if (!run) throw new Error(`No run for model ${modelId}`);
  return toOneJob(ctx, run);
}

/**
 * Returns a file of rows. Throws AppError 'not_found', and 'invalid_request' if it was uploaded for another
 * purpose.
 */
async function findTrainable(ctx: Context, id: string, param: 'training_file' | 'validation_file') {
  const file = await findFile(ctx, id, param);
  if (file.purpose === 'fine-tune') return file;
  throw refused(
    param,
    `${param} must have the purpose fine-tune, and this file has ${file.purpose}. Upload it again with purpose=fine-tune`,
  );
}

/**
 * Returns the held-out file. Throws AppError 'not_found', and 'invalid_request' if it is also the training
 * file.
 */
async function findValidation(
  ctx: Context,
  { validation_file: id }: Body,
  trained: FileRow,
): Promise<{ datasetId: string; fileName: string } | null> {
  if (!id) return null;
  const file = await findTrainable(ctx, id, 'validation_file');
  if (file.sha256 === trained.sha256) {
    throw refused(
      'validation_file',
      'validation_file must be another file than training_file: a model is measured by rows that it has not learnt. ' +
        'Leave it out to hold out one row in ten',
    );
  }
  return { datasetId: file.asset_id, fileName: file.path };
}

type Parameters = Partial<z.input<typeof fineTunePayload>>;

/**
 * Reads the hyperparameters, nested or at the top level. Throws AppError 'invalid_request' for parameters of
 * another method and for graders that rewards cannot express.
 */
function toParameters({ method, hyperparameters }: Body): Parameters {
  const type = method?.type ?? 'supervised';
  const other = METHODS.find((name) => name !== type && method?.[name]);
  if (other) {
    const name = `method.${other}`;
    throw refused(name, `${name} must be left out where method.type is '${type}'`);
  }
  if (type !== 'reinforcement') {
    const objective = type === 'supervised' ? 'sft' : type;
    return ofAll(objective, method?.[type]?.hyperparameters ?? hyperparameters ?? {});
  }
  const reinforcement = method?.reinforcement;
  if (!reinforcement)
    throw refused(
      'method.reinforcement',
      'method.reinforcement is required: its grader says what answers are paid for',
    );
  return ofReinforcement(reinforcement, hyperparameters ?? {});
}

/** Scales the default learning rate of LoRA by the requested multiplier. */
function ofAll(objective: Objective, asked: Asked): Parameters {
  const batchSize = numberOf(asked.batch_size) ?? (objective === 'kto' ? KTO_BATCH_AUTO : null);
  const beta = numberOf(asked.beta);
  return {
    objective,
    ...(beta !== null && { beta }),
    epochs: numberOf(asked.n_epochs) ?? EPOCHS_AUTO,
    learning_rate: Math.min(1, LEARNING_RATES[objective] * (numberOf(asked.learning_rate_multiplier) ?? 1)),
    ...(batchSize !== null && { batch_size: batchSize, gradient_accumulation_steps: 1 }),
  };
}

/** Rows have `messages` that end with the user's turn, and other fields at the top level. */
function ofReinforcement(
  { grader, response_format: format, hyperparameters }: Reinforcement,
  beside: Asked,
): Parameters {
  const asked = hyperparameters ?? beside;
  const { rewards, referenceField } = toRewards(grader, format ?? null);
  return {
    ...ofAll('grpo', asked),
    ...{ data_format: 'prompts', input_column: 'messages', output_column: referenceField, rewards },
    generations: ANSWERS_AUTO * (numberOf(hyperparameters?.compute_multiplier) ?? 1),
    eval_steps: numberOf(hyperparameters?.eval_interval) ?? 0,
  };
}

function numberOf(value: 'auto' | number | null | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

/** Rethrows an error of the web app's call with the corresponding field of the job. */
function ofJob(error: unknown): never {
  if (!(error instanceof AppError) || error.param === null) throw error;
  const { code, publicMessage, data, cause, shouldRetry } = error;
  throw new AppError(code, {
    publicMessage,
    param: fieldOf(error.param, publicMessage),
    data,
    cause,
    shouldRetry,
  });
}

function fieldOf(param: string, message: string): string {
  if (/base_model|model_id|^model$/.test(param)) return 'model';
  if (param.endsWith('rewards'))
    return `method.reinforcement.${message.includes('(JSON Schema)') ? 'response_format' : 'grader'}`;
  return param === 'validation_file' ? param : 'training_file';
}
