import { buffer } from 'node:stream/consumers';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation, GenerationParameters } from '@bakehouse/contract/generations';
import { formOfDeployment } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import {
  editFields,
  type editUrlWithDeployment,
  type editUrlWithStarter as editUrlWithStarterEndpoint,
  type editWithDeployment,
  type editWithStarter as editWithStarterEndpoint,
  type listKontextImages as listKontextImagesEndpoint,
} from '@bakehouse/contract/kontext';
import type * as z from 'zod';
import type { Context } from '../../platform/context.ts';
import { conflict, notFoundError, ownedByAnother, unknownId } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { parseFields } from '../../platform/http/bodies/parse-fields.ts';
import type { IdleCredit } from '../billing/usage/with-idle-credit.ts';
import { findImageDeployment } from '../deployments/images/image-deployments.ts';
import { deleteGeneration } from '../generations/end-generation.ts';
import {
  findGeneration,
  generationSeconds,
  listGenerations,
  readOutputs,
} from '../generations/generations.ts';
import { findServingStarter } from '../generations/generators/generators.ts';
import { storePicture } from '../generations/sources/pictures.ts';
import { fetchPicture, type SentPicture, sentPicture } from '../generations/sources/sources.ts';
import { awaitCompleted } from '../generations/start/await-completed.ts';
import { readParameters } from '../generations/start/parameters.ts';
import { startGeneration } from '../generations/start/start-generation.ts';
import { receivePicture } from '../media/receive-picture.ts';

const PARAM = 'image_url';
const PART = 'file';
const SHOWN = 100;
const MB = 1024 * 1024;

type Input = InputOf<typeof editUrlWithStarterEndpoint> | InputOf<typeof editUrlWithDeployment>;

/**
 * Edits the picture at an address, and waits for the result. Throws the errors of `readEdit`, `fetchPicture`,
 * `startEdit` and `awaitCompleted`.
 */
export async function editAddress(
  ctx: Context,
  usage: IdleCredit,
  input: Input,
  { request, client }: Http,
): Promise<ResponseOf<typeof editUrlWithStarterEndpoint>> {
  const started = await start(ctx, usage, input, client.signal);
  // An address may be a `data:` URL of many megabytes. Release its memory while the edit runs.
  request.releaseBody();
  return toEdited(ctx, await awaitCompleted(ctx, started, client), started.edit);
}

async function start(
  ctx: Context,
  usage: IdleCredit,
  { params: editor, body }: Input,
  signal: AbortSignal,
): Promise<{ id: string; edit: Edit }> {
  const { image_url: address } = body;
  const edit = readEdit(ctx, body);
  const picture = sentPicture(ctx, address, PARAM, () =>
    fetchPicture(ctx, address, { param: PARAM, signal }),
  );
  return { id: await startEdit(ctx, usage, { editor, edit, picture }), edit };
}

type EditUploadInput = InputOf<typeof editWithStarterEndpoint> | InputOf<typeof editWithDeployment>;

/**
 * Edits the picture in a multipart form, and waits for the result. Throws the errors of `findEditor`,
 * `receivePicture`, `readEdit`, `storePicture`, `startEdit` and `awaitCompleted`.
 */
export async function editUpload(
  ctx: Context,
  usage: IdleCredit,
  { params: editor }: EditUploadInput,
  { request, client }: Http,
): Promise<ResponseOf<typeof editWithStarterEndpoint>> {
  // Check the deployment before receiving the file. A call with a key may be a retry, which gets its first
  // response even if the deployment has ended.
  if (ctx.idempotencyKey === null) await findEditor(ctx, editor);
  const started = await receivePicture(ctx, request, PART, async ({ bytes, fields }) => {
    const edit = readEdit(ctx, parseFields(editFields, fields));
    const picture = sentPicture(ctx, bytes, PART, () => storePicture(ctx, bytes, PART));
    return { id: await startEdit(ctx, usage, { editor, edit, picture }), edit };
  });
  return toEdited(ctx, await awaitCompleted(ctx, started, client), started.edit);
}

type Asked = { editor: Editor; edit: Edit; picture: SentPicture };

/**
 * Starts an edit of a picture for the original product's edit call. Returns the generation's id. Throws the
 * errors of `findEditor`, of `picture` and of `startGeneration`.
 */
async function startEdit(
  ctx: Context,
  usage: IdleCredit,
  { editor, edit: { prompt, parameters }, picture }: Asked,
): Promise<string> {
  const { id } = await startGeneration(ctx, usage, {
    sent: { editor, prompt, parameters, picture: picture.sha256 },
    read: async () => {
      const model = await findEditor(ctx, editor);
      return { generator: 'flux-kontext', model, prompt, parameters, source: await picture.read() };
    },
  });
  return id;
}

type Fields = z.output<typeof editFields>;

/** Parameters of the original product's edit call, except the picture and the model. */
type Edit = Pick<Fields, 'prompt' | 'return_format' | 'skip_integrity_check'> & {
  parameters: GenerationParameters;
};

/** Throws AppError 'forbidden' for another user's id, and 'invalid_request' with the invalid field's name. */
function readEdit(
  { caller }: Pick<Context, 'caller'>,
  { prompt, user_id: userId, return_format, skip_integrity_check, ...asked }: Fields,
): Edit {
  // The check that the server makes for every route does not see fields of a form.
  if (userId !== undefined && userId !== caller.userId) throw ownedByAnother('user_id');
  const { guidance_scale, num_inference_steps, seed } = asked;
  const chosen = Object.entries({ guidance_scale, num_inference_steps, seed });
  const given = Object.fromEntries(
    chosen.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
  // The defaults of all models that edit; the starter has more.
  const form = formOfDeployment(generators['flux-kontext']);
  const parameters = readParameters(form, given, { paramOf: (field) => field });
  return { prompt, return_format, skip_integrity_check, parameters };
}

async function toEdited(
  ctx: Context,
  generation: Generation,
  asked: Pick<Edit, 'return_format' | 'skip_integrity_check'>,
): Promise<ResponseOf<typeof editWithStarterEndpoint>> {
  const { id, parameters, seed, outputs } = generation;
  const [output] = outputs;
  if (!output) throw new Error(`Completed edit ${id} has no picture`);
  const inline = asked.return_format === 'base64';
  // Reading the whole file verifies its hash.
  const bytes = inline || !asked.skip_integrity_check ? await readOutput(ctx, id) : null;
  return {
    image_url:
      inline && bytes
        ? `data:${output.media_type};base64,${bytes.toString('base64')}`
        : new URL(output.url, ctx.config.publicUrl).href,
    image_id: id,
    guidance_scale: Number(parameters.guidance_scale),
    num_inference_steps: Number(parameters.num_inference_steps),
    seed: Number(seed),
    inference_time: generationSeconds(generation) ?? 0,
    integrity_checked: bytes !== null,
  };
}

async function readOutput(ctx: Context, id: string): Promise<Buffer> {
  const [bytes] = await readOutputs(ctx, id);
  if (!bytes) throw notFoundError('The picture was deleted');
  return buffer(bytes);
}

/** Deletes an edit and its outputs. Throws AppError 'not_found'. */
export async function deleteKontextImage(ctx: Context, { id }: { id: string }): Promise<void> {
  const row = await findGeneration(ctx.db, { id, userId: ctx.caller.userId });
  if (row?.generator !== 'flux-kontext') throw unknownId('picture');
  await deleteGeneration(ctx, { id });
}

type KontextImage = ResponseOf<typeof listKontextImagesEndpoint>['images'][number];

/** Returns the caller's last edits, newest first, including running ones. */
export async function listKontextImages(ctx: Context): Promise<ResponseOf<typeof listKontextImagesEndpoint>> {
  const { generations } = await listGenerations(ctx, { generator: 'flux-kontext', limit: SHOWN });
  return { images: generations.map(toKontextImage) };
}

function toKontextImage(generation: Generation): KontextImage {
  const { id, prompt, parameters, state, outputs } = generation;
  const [output] = outputs;
  return {
    ...{ id, image_id: id, prompt, edit_description: prompt, parameters },
    status: state === 'queued' || state === 'starting' || state === 'running' ? 'processing' : state,
    created_at: generation.created_at,
    image_url: output?.url ?? null,
    download_url: output?.download_url ?? null,
    s3_image_url: output && !output.url.startsWith('/') ? output.url : null,
    guidance_scale: numberOrNull(parameters.guidance_scale),
    num_inference_steps: numberOrNull(parameters.num_inference_steps),
    seed: generation.seed,
    model: generation.model,
    error: state === 'failed' ? generation.reason : null,
    file_size_mb: output ? Number((output.size_bytes / MB).toFixed(3)) : null,
  };
}

/** Null if the service does not support this parameter. */
function numberOrNull(value: GenerationParameters[string] | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

/** The editing model in the path of a call: a starter, or the model of a deployment. */
type Editor = { model: string } | { podId: string };

/**
 * Returns the editing model's name. Throws AppError 'not_found' if neither a starter nor a deployment of the
 * caller has it, and 'conflict' for a deployment that has ended or does not edit pictures.
 */
export async function findEditor(ctx: Context, asked: Editor): Promise<string> {
  if ('podId' in asked) return findDeployed(ctx, asked.podId);
  const own = await findServingStarter(ctx.db, 'flux-kontext');
  if (own?.modelName === asked.model) return asked.model;
  throw notFoundError(
    `There is no starter model '${asked.model}' that edits pictures. GET /api/v1/generators lists where one is available`,
    { param: 'model' },
  );
}

async function findDeployed(ctx: Context, podId: string): Promise<string> {
  const { kind, title, model_name, inference_url } = await findImageDeployment(ctx, podId);
  if (kind !== 'flux-kontext')
    throw conflict(`${title} generates pictures but cannot edit them`, { param: 'podId' });
  if (inference_url === null) throw conflict(`The deployment of ${title} has ended`, { param: 'podId' });
  return model_name;
}
