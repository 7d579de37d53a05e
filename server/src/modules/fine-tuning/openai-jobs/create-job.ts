import { createAsset } from '@bakehouse/contract/assets';
import type { InputOf } from '@bakehouse/contract/endpoint';
import { toFlatId } from '@bakehouse/contract/fields/flat-id';
import { fineTunePayload } from '@bakehouse/contract/fine-tuning';
import {
  ANSWERS_AUTO,
  type createFineTuningJob as createFineTuningJobEndpoint,
  EPOCHS_AUTO,
  type FineTuningJob,
  LEARNING_RATES,
} from '@bakehouse/contract/fine-tuning-jobs';
import type { Objective } from '@bakehouse/contract/limits';
import { formatBgl } from '@bakehouse/contract/money';
import type { TrackerService } from '@bakehouse/contract/trackers';
import type * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import type { Database } from '../../../platform/db/database.ts';
import { AppError, invalidParam, modelNotFound } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/is-uuid.ts';
import { findModelByName } from '../../assets/access/find-model-by-name.ts';
import { findReadableAsset } from '../../assets/access/find-readable-asset.ts';
import { listOwnModels } from '../../assets/own/own-assets.ts';
import { findClonedAsset } from '../../assets/sources/sources.ts';
import type { FileRow } from '../../datasets/openai-files/file-queries.ts';
import { findFile } from '../../datasets/openai-files/files.ts';
import { findFineTune } from '../../models/fine-tuned/fine-tuned.ts';
import { toModelName } from '../../models/names/model-name.ts';
import { listStarterModels } from '../../models/starter/starters.ts';
import { listRuns } from '../runs/runs.ts';
import { startFineTune } from '../start-fine-tune.ts';
import type { TrainingParts } from '../validation/check-fine-tune.ts';
import { selectJobs } from './job-queries.ts';
import { toOneJob } from './jobs.ts';
import { toRewards } from './to-rewards.ts';

/** A name is searched among this many of the user's newest models. */
const OWN_MAX = 1000;

/**
 * Share of the rows that are trained on if there is no validation file. The other rows are held out, and
 * select the best checkpoint.
 */
const TRAINED_PART = 0.9;

/** Default batch size of KTO, which compares the answers within a batch. */
const KTO_BATCH_AUTO = 4;

const METHODS = ['supervised', 'dpo', 'reinforcement', 'kto'] as const;

/** Maximum length of the base's title within the title of the new model. */
const BASE_TITLE_LENGTH_MAX = 120;

type Body = InputOf<typeof createFineTuningJobEndpoint>['body'];

type Method = NonNullable<Body['method']>;

type Asked = NonNullable<NonNullable<Method['dpo']>['hyperparameters']>;

type Reinforcement = NonNullable<Method['reinforcement']>;

/**
 * Starts a fine-tune as the web app does: validates the file, holds the quote and queues the run. If one of
 * these fails, nothing is created. Throws the errors of `startFineTune`, with the names of the job's fields.
 */
export async function createJob(
  ctx: Context,
  parts: TrainingParts,
  { body }: InputOf<typeof createFineTuningJobEndpoint>,
  signal: AbortSignal,
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
  const modelId = await startFineTune(ctx, parts, asset, payload, signal, job).catch(ofJob);
  const [run] = (await listRuns(ctx, { query: { model_id: [modelId], limit: 1 } })).runs;
  if (!run) throw new Error(`No run for model ${modelId}`);
  return toOneJob(ctx, run);
}

/**
 * Returns a training or validation file. Throws AppError 'not_found', and 'invalid_request' if the file was
 * uploaded for another purpose.
 */
async function findTrainable(ctx: Context, id: string, param: 'training_file' | 'validation_file') {
  const file = await findFile(ctx, id, param);
  if (file.purpose === 'fine-tune') return file;
  throw invalidParam(
    param,
    `${param} must have the purpose fine-tune, and this file has ${file.purpose}. Upload it again with purpose=fine-tune`,
  );
}

/**
 * Returns the validation file. Throws AppError 'not_found', and 'invalid_request' if it is the training file.
 */
async function findValidation(
  ctx: Context,
  { validation_file: id }: Body,
  trained: FileRow,
): Promise<{ datasetId: string; fileName: string } | null> {
  if (!id) return null;
  const file = await findTrainable(ctx, id, 'validation_file');
  if (file.sha256 === trained.sha256) {
    throw invalidParam(
      'validation_file',
      'validation_file must be another file than training_file: a model must be evaluated on rows that it was not trained on. ' +
        'Leave it out to hold out one row in ten',
    );
  }
  return { datasetId: file.asset_id, fileName: file.path };
}

type Parameters = Partial<z.input<typeof fineTunePayload>>;

/**
 * Reads the hyperparameters, which may be inside the method or at the top level. Throws AppError
 * 'invalid_request' for parameters of another method, and for a grader without equivalent rewards.
 */
function toParameters({ method, hyperparameters }: Body): Parameters {
  const type = method?.type ?? 'supervised';
  const other = METHODS.find((name) => name !== type && method?.[name]);
  if (other) {
    const name = `method.${other}`;
    throw invalidParam(name, `${name} must be left out if method.type is '${type}'`);
  }
  if (type !== 'reinforcement') {
    const objective = type === 'supervised' ? 'sft' : type;
    return ofAll(objective, method?.[type]?.hyperparameters ?? hyperparameters ?? {});
  }
  const reinforcement = method?.reinforcement;
  if (!reinforcement)
    throw invalidParam(
      'method.reinforcement',
      'method.reinforcement is required: its grader defines which answers earn a reward',
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

/**
 * Returns the parameters of reinforcement learning. `messages` of a row end with the user's turn; its other
 * fields are at the top level.
 */
function ofReinforcement(
  { grader, response_format: format, hyperparameters }: Reinforcement,
  topLevel: Asked,
): Parameters {
  const asked = hyperparameters ?? topLevel;
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

/** Rethrows an error of `startFineTune` with the name of the job's field. */
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

/**
 * Returns the id of the model that a job names: a starter or fine-tune by its name, a model by its id, title
 * or hub name, or a caller's model by its deployment name. Throws AppError 'model_not_found'.
 */
async function findBase(ctx: Context, name: string): Promise<string> {
  const { userId } = ctx.caller;
  if (isUuid(name)) return name;
  const found =
    (await findStarter(ctx, name)) ??
    (await findFineTune(ctx.db, { userId, name }))?.assetId ??
    (await findModelByName(ctx, name)) ??
    (await findClonedAsset(ctx.db, { userId, repoId: name, type: 'model' })) ??
    (await findOwnByName(ctx, name));
  if (found) return found;
  throw modelNotFound(
    `There is no model '${name}' to fine-tune. Name a starter model, or a model of your own by its title or id`,
  );
}

/** Finds a starter by its model name, or by its title in the form of a name, which finished jobs return. */
async function findStarter({ db }: Context, name: string): Promise<string | undefined> {
  const starters = await listStarterModels(db);
  const isNamed = starters.find(({ modelName }) => modelName === name);
  return (isNamed ?? starters.find(({ title }) => toModelName(title) === name))?.assetId;
}

async function findOwnByName({ db, caller }: Context, name: string): Promise<string | undefined> {
  const own = await listOwnModels(db, { userId: caller.userId, limit: OWN_MAX });
  return own.find(({ title }) => toModelName(title) === name)?.id;
}

/** Tracker settings of a job. They override the settings of its owner. */
export type Integration = { project: string; entity: string | null; name: string; tags: string[] };

/**
 * Returns the tracker settings of a run for a service; null if the run has none, or was not started as a job.
 */
export async function findIntegration(
  db: Database,
  { runId, service }: { runId: string; service: TrackerService },
): Promise<Integration | null> {
  const job = (await selectJobs(db, [runId])).get(runId);
  const asked = job?.integrations.find(({ type }) => type === service)?.wandb;
  if (!asked) return null;
  const { project, entity = null, name, tags } = asked;
  return { project, entity, name: name || toFlatId('ftjob-', runId), tags: tags ?? [] };
}
