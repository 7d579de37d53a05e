import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation } from '@bakehouse/contract/generations';
import { clampParis } from '@bakehouse/contract/generators/parameters/clamp-paris';
import { PARIS_MODEL } from '@bakehouse/contract/generators/paris';
import { formatBgl, formatUsd } from '@bakehouse/contract/money';
import type {
  estimateParis as estimateParisEndpoint,
  generateParisImage,
  generateParisImage as generateParisImageEndpoint,
  listParisImages as listParisImagesEndpoint,
  pollParis as pollParisEndpoint,
} from '@bakehouse/contract/paris';
import type { Context } from '../../platform/context.ts';
import { notFoundError, unknownId } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/answer.ts';
import { linkSignals } from '../../platform/link-signals.ts';
import { readPrices } from '../billing/prices/read-prices.ts';
import type { IdleCredit } from '../billing/usage/with-idle-credit.ts';
import { awaitGeneration, deleteGeneration } from '../generations/end-generation.ts';
import {
  findByRequest,
  findGenerationOfOutput,
  generationSeconds,
  getGeneration,
  listGenerations,
} from '../generations/generations.ts';
import type { GenerationRow } from '../generations/queries.ts';
import { assertCompleted } from '../generations/start/await-completed.ts';
import { costOfGeneration } from '../generations/start/cost-of-generation.ts';
import type { GenerationRequest } from '../generations/start/generation-request.ts';
import { type Joins, type PictureCall, startGeneration } from '../generations/start/start-generation.ts';

const WAIT_MS = 35_000;
const SHOWN = 20;

/**
 * How long an identical request returns an ended generation instead of a new one, so that a polling client
 * does not pay for a second picture.
 */
const JOINED_MS = { completed: 10 * 60_000, failed: 3 * 60_000, cancelled: 3 * 60_000 };

/**
 * Returns the picture, or status 202 while it is being generated. Throws AppError for a failed or cancelled
 * generation.
 */
function answerParis(generation: Generation): Answer<ResponseOf<typeof generateParisImage>> {
  assertCompleted(generation);
  const status = generation.state === 'completed' ? 'completed' : 'processing';
  return new Answer(
    { request_id: generation.id, status, images: toParisImages(generation) },
    { status: status === 'completed' ? 200 : 202 },
  );
}

/** Deletes a picture with its generation. Throws AppError 'not_found'. */
export async function deleteParisImage(ctx: Context, { id }: { id: string }): Promise<void> {
  const generationId = await findGenerationOfOutput(ctx.db, { id, userId: ctx.caller.userId });
  if (generationId === undefined) throw unknownId('picture');
  await deleteGeneration(ctx, { id: generationId });
}

/**
 * Returns the price of one Paris picture; the requested number of pictures is ignored. Throws AppError
 * 'not_found' for another model.
 */
export async function estimateParis(
  { db, clock }: Context,
  { model, ...body }: InputOf<typeof estimateParisEndpoint>['body'],
): Promise<ResponseOf<typeof estimateParisEndpoint>> {
  if (model !== PARIS_MODEL) {
    throw notFoundError(`There is no price for ${model}`, { param: 'model' });
  }
  const asked = { generator: 'paris' as const, parameters: clampParis(body) };
  const micro = costOfGeneration(
    await readPrices(db, clock.now()),
    { provider: 'own', queue: `starter:${model}` },
    asked,
  );
  const bgl = Number(formatBgl(micro));
  return {
    estimated_cost_tokens: bgl,
    estimated_cost_bgl: bgl,
    estimated_cost_usd: Number(formatUsd(micro)),
    currency: 'USD',
    is_free: micro === 0n,
  };
}

/**
 * Starts a picture and waits for it, for a limited time or until the server stops. If the client disconnects,
 * the generation continues and `pollParis` finds it by an identical request. Throws the errors of
 * `startGeneration`.
 */
export async function generateParis(
  ctx: Context,
  usage: IdleCredit,
  body: InputOf<typeof generateParisImageEndpoint>['body'],
  client: AbortSignal,
): Promise<Answer<ResponseOf<typeof generateParisImageEndpoint>>> {
  const { id } = await startGeneration(ctx, usage, parisRequest(body));
  using over = linkSignals(client, ctx.closing);
  const generation = await awaitGeneration(ctx, id, { ms: WAIT_MS, signal: over.signal });
  return answerParis(generation);
}

/** Returns the caller's last pictures by Paris, newest first. */
export async function listParisImages(ctx: Context): Promise<ResponseOf<typeof listParisImagesEndpoint>> {
  const { generations } = await listGenerations(ctx, {
    generator: 'paris',
    state: 'completed',
    limit: SHOWN,
  });
  return { images: generations.flatMap(toParisImages) };
}

/** Returns the generation request for a call of the Paris page. Values outside their limits are clamped. */
function parisRequest({ prompt, ...body }: { prompt: string } & Record<string, unknown>): PictureCall {
  const asked: GenerationRequest = { generator: 'paris', prompt, parameters: clampParis(body) };
  return { sent: asked, read: async () => asked };
}

/**
 * Returns the running or recent picture of an identical request, or starts one. A deleted picture is
 * generated again. Throws the errors of `startGeneration`.
 */
export async function pollParis(
  ctx: Context,
  usage: IdleCredit,
  body: InputOf<typeof pollParisEndpoint>['body'],
): Promise<Answer<ResponseOf<typeof pollParisEndpoint>>> {
  const now = ctx.clock.now();
  const joins: Joins = async (tx, same) => {
    const newest = await findByRequest(tx, same);
    return newest && isJoined(newest, now) ? newest : undefined;
  };
  const { id } = await startGeneration(ctx, usage, parisRequest(body), { joins });
  // Read it again: a joined generation may have progressed.
  return answerParis(await getGeneration(ctx, { id }));
}

function isJoined({ state, ended_at }: GenerationRow, now: Date): boolean {
  if (state === 'queued' || state === 'starting' || state === 'running') return true;
  return ended_at !== null && now.getTime() - ended_at.getTime() < JOINED_MS[state];
}

type ParisImage = ResponseOf<typeof listParisImagesEndpoint>['images'][number];

/** Returns the pictures of a generation in the format of the Paris page. */
function toParisImages(generation: Generation): ParisImage[] {
  const { parameters } = generation;
  return generation.outputs.map(({ id, url, width, height }) => ({
    ...{ id, url, width, height },
    b64_json: null,
    revised_prompt: null,
    cfg_scale: Number(parameters.cfg_scale),
    num_inference_steps: Number(parameters.num_inference_steps),
    sampling_strategy: parameters.sampling_strategy as ParisImage['sampling_strategy'],
    k: Number(parameters.k),
    seed: Number(generation.seed),
    output_format: parameters.output_format as ParisImage['output_format'],
    expert_used: generation.expert_used,
    routing_confidence: generation.routing_confidence,
    generation_time: generationSeconds(generation),
    model: generation.model,
    generation_id: generation.id,
    s3_url: url.startsWith('/') ? null : url,
    prompt: generation.prompt,
    created_at: generation.created_at,
  }));
}
