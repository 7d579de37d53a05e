import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { ImageLora, ImageRequest } from '@bakehouse/contract/runtime/serve-image-spec';
import * as z from 'zod';
import { grantInput } from '../../../engine/grant-input.ts';
import type { Context, Services } from '../../../platform/context.ts';
import {
  AppError,
  gone,
  invalidParam,
  invalidRequest,
  modelUnavailable,
  unavailable,
} from '../../../platform/errors.ts';
import type { WakingParts } from '../../deployments/end-deployment.ts';
import {
  awaitModelServer,
  type ModelServer,
  readyServers,
} from '../../deployments/reach/await-model-server.ts';
import { findModel } from '../../deployments/reach/find-model.ts';
import { markInUse } from '../../deployments/reach/mark-in-use.ts';
import { BadMedia } from '../../media/bad-media.ts';
import { readLora } from '../../models/loras/read-lora.ts';
import {
  ModelServerUnreachable,
  postToModelServer,
  readText,
  retryUnreachable,
} from '../../serving/ask/model-server-client.ts';
import { type RequestDeadline, requestDeadline } from '../../serving/ask/request-deadline.ts';
import { localGenerator } from '../generators/local-generators.ts';
import type { GenerationRow } from '../queries.ts';
import { readInput } from '../sources/sources.ts';
import type { Attempt, Generated, RunningParts, StoredOutput } from './attempt.ts';
import { begun, progressAfter, startingReason } from './progress.ts';
import { type AnswerEvent, INTERRUPTED, readImageEvents } from './read-image-events.ts';

/** Error response of an image model server. */
const refusal = z.object({ error: z.object({ message: z.string(), param: z.string().nullable() }) });

/** Generates on this server's model server. Throws the errors of `reachImageServer`, and LeaseLost. */
export async function generateHere(
  { services, serving }: RunningParts,
  { lease: { row }, report, signal, keep }: Attempt,
): Promise<Generated> {
  let progress = begun;
  let generated: Generated | null = null;
  const question = {
    modelName: row.model,
    readRequest: async (server: { workloadId: string }) => {
      const own = localGenerator(row.generator, row.queue);
      if (!own) throw new Error(`No local model serves ${row.generator}`);
      const lora = await grantLoraAccess(services, row, server);
      const { bytes: picture = null, mask = null } = (await readInput(services, row)) ?? {};
      return own.request(row, { picture, mask, lora });
    },
    signal,
    onWait: (phase: string, reason: string) =>
      report.update({ ...progress, reason: reason || startingReason(phase) }),
  };
  const handleEvent = async (event: AnswerEvent, { revisionId }: { revisionId: string | null }) => {
    if (event.type === 'done') {
      const { expert_used, routing_confidence } = event;
      const details = { ...progress.details, expert_used, routing_confidence };
      generated = { outputs: [await recordFinishedPicture(event, keep)], revisionId, details };
      return;
    }
    const next = progressAfter(progress, event);
    if (next !== progress) report.update(next);
    progress = next;
  };
  await reachImageServer(asOwner(services, row), serving, question, handleEvent).catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'model_not_found' ? modelGone(row, error) : error;
  });
  if (!generated) throw new Error('Model server returned no output');
  return generated;
}

async function recordFinishedPicture(
  { bytes, media_type: mediaType, width, height, beside }: Extract<AnswerEvent, { bytes: unknown }>,
  keep: Attempt['keep'],
): Promise<StoredOutput> {
  try {
    return await keep({
      bytes: Readable.from(bytes, { objectMode: false }),
      declared: { mediaType, width, height },
      beside: beside.map((one) => ({
        role: one.role,
        bytes: Readable.from(one.bytes, { objectMode: false }),
      })),
    });
  } catch (cause) {
    if (!(cause instanceof BadMedia)) throw cause;
    const what = mediaType === 'video/mp4' ? 'video' : 'image';
    throw unavailable(`The ${what} was corrupted`, { cause });
  }
}

/** Returns the error for a model that was deleted or stopped after the picture was requested. */
function modelGone({ model, queue }: GenerationRow, cause: AppError): AppError {
  const publicMessage = queue?.startsWith('deployment:')
    ? 'The deployment that was to generate it has ended'
    : `${model} is no longer served`;
  return gone(publicMessage, { shouldRetry: false, cause });
}

/** Returns a context with the permissions of the generation's owner. */
function asOwner(services: Services, { user_id: userId }: GenerationRow): Context {
  return {
    ...services,
    caller: { kind: 'user', userId, isOperator: false },
    requestId: randomUUID(),
    idempotencyKey: null,
  };
}

type Row = Pick<GenerationRow, 'user_id' | 'parameters' | 'lora_revision_id'>;

/**
 * Returns the LoRA of a generation for its model server, and grants its workload access to the file;
 * undefined if it has none. Throws AppError 'invalid_request' if the user can no longer read it.
 */
async function grantLoraAccess(
  { db }: Pick<Services, 'db'>,
  { user_id: userId, parameters, lora_revision_id: revisionId }: Row,
  { workloadId }: { workloadId: string },
): Promise<ImageLora | undefined> {
  const { lora: assetId, lora_scale: scale } = parameters;
  if (revisionId === null || typeof assetId !== 'string') return undefined;
  const { file } = await readLora(db, { assetId, revisionId, userId, param: 'lora' }).catch(missingLoraError);
  const { sha256, sizeBytes } = file;
  await grantInput(db, { workloadId, sha256, sizeBytes });
  return { id: revisionId, sha256, size_bytes: sizeBytes, scale: Number(scale) };
}

/** Turns 'not_found' into 'invalid_request', so that the generation is not retried. */
function missingLoraError(error: unknown): never {
  if (!(error instanceof AppError && error.code === 'not_found')) throw error;
  throw invalidParam('lora', 'Its LoRA was deleted, or you no longer have access to it', error);
}

type Question = {
  /** Name of a starter model or a deployment. */
  modelName: string;
  /**
   * Called only when the model server is ready, because an input picture should not be in memory during a
   * cold start.
   */
  readRequest: (server: { workloadId: string }) => Promise<ImageRequest>;
  signal: AbortSignal;
  /** Called with each new reason for waiting on the model server. */
  onWait: (phase: string, reason: string) => void;
};

type Take = (event: AnswerEvent, server: { revisionId: string | null }) => Promise<void>;

/**
 * Generates on an image model server and starts the server if needed. Passes each event to `take` in
 * sequence; the last event has the file. The server counts as in use until `take` is done. Throws AppError
 * 'model_not_found', 'invalid_request' for a rejected request, 'unavailable' and 'timed_out', the errors of
 * `take`, or the signal's reason.
 */
async function reachImageServer(
  ctx: Context,
  parts: WakingParts,
  { modelName, readRequest, signal: wanted, onWait }: Question,
  take: Take,
): Promise<void> {
  const deadline = requestDeadline(modelName, 'image');
  const signal = AbortSignal.any([wanted, deadline.signal]);
  const attempt = async (number: number) => {
    const upstream = await findModel(ctx, parts, { modelName, kind: 'image' });
    const endUse = markInUse(ctx, upstream);
    try {
      const [ready] = number === 1 ? readyServers(upstream) : [];
      const [server] = ready
        ? [ready]
        : await awaitModelServer(ctx, parts, { upstream, modelName, kind: 'image', signal, onWait });
      if (!server) throw modelUnavailable(`${modelName} does not answer`);
      await generate(server, await readRequest(server), { deadline, signal, modelName }, take);
    } finally {
      deadline.rest();
      endUse();
    }
  };
  try {
    await retryUnreachable(attempt, { modelName, signal });
  } catch (error) {
    // Throw the reason of the abort instead of the abort error.
    throw wanted.aborted ? wanted.reason : deadline.signal.aborted ? deadline.signal.reason : error;
  } finally {
    deadline.stop();
  }
}

async function generate(
  server: ModelServer<'image'>,
  request: ImageRequest,
  { deadline, signal, modelName }: { deadline: RequestDeadline; signal: AbortSignal; modelName: string },
  take: Take,
): Promise<void> {
  deadline.progress();
  const path = hasNewFields(request) ? 'edit' : 'generate';
  const target = { url: `${server.baseUrl}/${path}`, key: server.key, alone: true };
  const answer = await postToModelServer(target, request, signal).catch((error: unknown) => {
    // A delivered request may have crashed the server. Do not retry it immediately, as after a broken
    // response.
    const isBegun = error instanceof ModelServerUnreachable && error.wasDelivered;
    throw isBegun ? modelUnavailable(INTERRUPTED, error) : error;
  });
  if (answer.statusCode === 404) throw serverTooOld(modelName);
  if (answer.statusCode !== 200) throw await toError(answer, modelName);
  for await (const event of readImageEvents(answer, deadline.progress)) {
    if (event.type === 'error') throw modelUnavailable(event.message);
    await take(event, { revisionId: server.revisionId });
  }
}

/** Returns true if an older model server would ignore a part of the request. */
function hasNewFields(request: ImageRequest): boolean {
  if (!('strength' in request)) return false;
  return request.mask !== undefined || request.strength !== 1 || request.negative_prompt !== '';
}

const serverTooOld = (modelName: string) =>
  invalidRequest(
    `The server of ${modelName} started before an upgrade and accepts no mask, strength or negative prompt. Leave them out, or try again once it was restarted`,
  );

async function toError(answer: IncomingMessage, modelName: string): Promise<AppError> {
  const text = await readText(answer);
  const cause = new Error(`${answer.statusCode}: ${text.slice(0, 1_000)}`);
  if (answer.statusCode !== 400) return modelUnavailable(`${modelName} could not generate this`, cause);
  const { message, param } = refusal.parse(JSON.parse(text)).error;
  return invalidRequest(message, { param: param ?? undefined, cause });
}
