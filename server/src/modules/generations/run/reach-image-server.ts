import type { IncomingMessage } from 'node:http';
import type { ImageRequest } from '@bakehouse/contract/runtime/serve-image-spec';
import * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import {
  awaitModelServer,
  type ModelServer,
  readyServers,
} from '../../deployments/reach/await-model-server.ts';
import { findModel } from '../../deployments/reach/find-model.ts';
import { keepInUse } from '../../deployments/reach/keep-in-use.ts';
import type { WakingParts } from '../../deployments/waking-parts.ts';
import {
  ModelServerUnreachable,
  postToModelServer,
  readText,
} from '../../serving/ask/model-server-client.ts';
import { type RequestDeadline, requestDeadline } from '../../serving/ask/request-deadline.ts';
import { retryUnreachable } from '../../serving/ask/retry-unreachable.ts';
import { unavailable } from '../../serving/ask/unavailable.ts';
import { type AnswerEvent, brokeOff, readImageEvents } from './read-image-events.ts';

/** Error response of an image model server. */
const refusal = z.object({ error: z.object({ message: z.string(), param: z.string().nullable() }) });

type Question = {
  /** Name of a starter model or a deployment. */
  modelName: string;
  /** Called once the model server is ready: an input picture is large, and a cold start takes minutes. */
  readRequest: (server: { workloadId: string }) => Promise<ImageRequest>;
  signal: AbortSignal;
  /** Called with each new reason for waiting on the model server. */
  onWait: (phase: string, reason: string) => void;
};

type Take = (event: AnswerEvent, server: { revisionId: string | null }) => Promise<void>;

/**
 * Generates on an image model server, waking it if needed, and passes the events to `take` in sequence, the
 * last with the file. The server counts as in use until then. Throws AppError 'model_not_found',
 * 'invalid_request' for a rejected request, 'unavailable' and 'timed_out', the errors of `take`, or the
 * signal's reason.
 */
export async function reachImageServer(
  ctx: Context,
  parts: WakingParts,
  { modelName, readRequest, signal: wanted, onWait }: Question,
  take: Take,
): Promise<void> {
  const deadline = requestDeadline(modelName, 'image');
  const signal = AbortSignal.any([wanted, deadline.signal]);
  const attempt = async (number: number) => {
    const upstream = await findModel(ctx, parts, { modelName, kind: 'image' });
    const endUse = keepInUse(ctx, upstream);
    try {
      const [ready] = number === 1 ? readyServers(upstream) : [];
      const [server] = ready
        ? [ready]
        : await awaitModelServer(ctx, parts, { upstream, modelName, kind: 'image', signal, onWait });
      if (!server) throw unavailable(`${modelName} does not answer`);
      await generate(server, await readRequest(server), { deadline, signal, modelName }, take);
    } finally {
      deadline.rest();
      endUse();
    }
  };
  try {
    await retryUnreachable(attempt, { modelName, signal });
  } catch (error) {
    // Report the reason of the abort, not the abort itself.
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
  const target = { url: `${server.baseUrl}/generate`, key: server.key, alone: true };
  const answer = await postToModelServer(target, request, signal).catch((error: unknown) => {
    // The request may have crashed it: as after a later break, don't retry immediately.
    const isBegun = error instanceof ModelServerUnreachable && error.wasDelivered;
    throw isBegun ? unavailable(brokeOff, error) : error;
  });
  if (answer.statusCode !== 200) throw await toError(answer, modelName);
  for await (const event of readImageEvents(answer, deadline.progress)) {
    if (event.type === 'error') throw unavailable(event.message);
    await take(event, { revisionId: server.revisionId });
  }
}

async function toError(answer: IncomingMessage, modelName: string): Promise<AppError> {
  const text = await readText(answer);
  const cause = new Error(`${answer.statusCode}: ${text.slice(0, 1_000)}`);
  if (answer.statusCode !== 400) return unavailable(`${modelName} could not generate this`, cause);
  const { message, param } = refusal.parse(JSON.parse(text)).error;
  return new AppError('invalid_request', { publicMessage: message, ...(param !== null && { param }), cause });
}
