import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { toErrorBody } from '../../platform/http/send-error.ts';
import { takeTurns } from '../../platform/take-turns.ts';
import { holdNow } from '../credits/hold-now.ts';
import { costMicro } from '../credits/quote.ts';
import { awaitModelServer, type ModelServer, readyServer } from './await-model-server.ts';
import { type CompletionBody, toServerRequest } from './completion-request.ts';
import { CompletionStream, readUsage, type Usage, withModelName } from './completion-stream.ts';
import { findModel, tokenPrices } from './find-model.ts';
import { HOLD_MS, keepInUse } from './keep-in-use.ts';
import { ModelServerUnreachable, postToModelServer, readText } from './model-server-client.ts';
import type { Way } from './queries.ts';
import { recordRequest } from './record-request.ts';
import type { ServingParts } from './serving-parts.ts';
import { CONTEXT_TOKENS, PARALLEL_REQUESTS } from './text-server-spec.ts';

type Path = '/v1/chat/completions' | '/v1/completions';
type Raw = Http['reply']['raw'];

/** A server that was just replaced, or has just died, is looked for this often, with this pause. */
const TRIES = 10;
const TRY_PAUSE_MS = 300;
/** How long a reader may take nothing of what waits for it: meanwhile it keeps a place of the model server. */
const READER_MS_MAX = 30_000;

/** Whose turn it is, by text server. */
const turnsOf = new Map<string, ReturnType<typeof takeTurns>>();

/** What is known of an answer when it has ended, in whichever way. */
type Outcome = { ok: boolean; usage: Usage; firstTokenMs: number | null };

/**
 * Passes an OpenAI-style request on to the model server and its answer back. What the answer can
 * cost at most is held first; what it did cost is settled after.
 */
export async function answerCompletion(
  ctx: Context,
  parts: ServingParts,
  path: Path,
  body: CompletionBody,
  { reply }: Http,
): Promise<void> {
  const hungUp = new AbortController();
  reply.raw.on('close', () => {
    if (!reply.raw.writableEnded) hungUp.abort();
  });
  const began = { at: ctx.clock.now(), ms: performance.now() };
  const way = await findModel(ctx, parts, body.model);
  const requestId = randomUUID();
  const holdId = await holdRequest(ctx, way, requestId);
  const outcome: Outcome = { ok: false, usage: { promptTokens: 0, completionTokens: 0 }, firstTokenMs: null };
  let endUse = () => {};
  try {
    if (reply.raw.destroyed) return;
    endUse = await keepInUse(ctx, way, holdId);
    const onWait = (phase: string) => {
      if (body.stream) comment(reply.raw, reply.getHeaders(), phase);
    };
    const pass = async (answer: IncomingMessage, server: ModelServer) => {
      if ((answer.statusCode ?? 500) >= 400) throw await toError(answer, way);
      if (body.stream) {
        beginEvents(reply.raw, reply.getHeaders());
        const keepUsage = body.stream_options?.include_usage === true;
        const stream = new CompletionStream({ engine: server.engine, modelName: way.model_name, keepUsage });
        const onToken = () => {
          outcome.firstTokenMs = Math.round(performance.now() - began.ms);
        };
        try {
          await passEvents(answer, stream, reply.raw, hungUp.signal, onToken);
        } finally {
          outcome.usage = stream.usage;
        }
      } else {
        const { text, usage } = await readAnswer(answer, way);
        outcome.usage = usage;
        reply
          .header('content-type', 'application/json; charset=utf-8')
          .send(withModelName(text, way.model_name));
      }
    };
    await reach(ctx, parts, { way, path, body, signal: hungUp.signal, onWait }, pass);
    outcome.ok = true;
  } catch (error) {
    if (hungUp.signal.aborted) {
      // Who stops an answer has not met an error.
      outcome.ok = true;
      return;
    }
    if (!reply.raw.headersSent) throw error;
    ctx.log.warn({ err: error, model: way.model_name }, 'a completion broke off');
    failEvents(reply.raw, error, ctx.requestId);
  } finally {
    endUse();
    const totalMs = Math.round(performance.now() - began.ms);
    await recordRequest(ctx, way, holdId, { id: requestId, at: began.at, totalMs, ...outcome });
  }
}

/** Holds the price of a full context: no answer can cost more. */
async function holdRequest(ctx: Context, way: Way, requestId: string): Promise<string> {
  const { holdId } = await holdNow(ctx, {
    userId: ctx.caller.userId,
    amountMicro: costMicro([{ priceId: tokenPrices(way).completion, parts: BigInt(CONTEXT_TOKENS) }]),
    kind: 'llm_inference',
    description: `Tokens of ${way.model_name}`,
    references: {
      asset_name: way.model_name,
      request_id: requestId,
      ...(way.pod_id && { pod_id: way.pod_id }),
    },
    expiresAt: new Date(ctx.clock.now().getTime() + HOLD_MS),
    idempotencyKey: `completion:${requestId}`,
  });
  return holdId;
}

type Question = {
  way: Way;
  path: Path;
  body: CompletionBody;
  signal: AbortSignal;
  onWait: (phase: string) => void;
};

/**
 * Sends the request to whichever server answers for the model, waking it where it must, and hands
 * its answer to `pass`. Users take turns at a server: one with many questions, or one who reads
 * slowly, must not keep the others from it.
 */
async function reach(
  ctx: Context,
  parts: ServingParts,
  { way, path, body, signal, onWait }: Question,
  pass: (answer: IncomingMessage, server: ModelServer) => Promise<void>,
): Promise<void> {
  let ready = readyServer(way);
  for (let tries = 1; ; tries += 1) {
    const server = ready ?? (await awaitModelServer(ctx, parts, body.model, signal, onWait));
    ready = null;
    const request = toServerRequest(body, server);
    try {
      return await takeTurn(way.server_id, ctx.caller.userId, async () => {
        signal.throwIfAborted();
        await pass(await postToModelServer(server.baseUrl + path, request, signal), server);
      });
    } catch (error) {
      if (!(error instanceof ModelServerUnreachable)) throw error;
      if (tries === TRIES) throw unavailable(way, error);
      await pause(TRY_PAUSE_MS, undefined, { signal });
    }
  }
}

/** As many at once as the server answers side by side; the others wait here, and not in a line of its own. */
function takeTurn(serverId: string, userId: string, work: () => Promise<void>): Promise<void> {
  const turns = turnsOf.get(serverId) ?? takeTurns(PARALLEL_REQUESTS);
  turnsOf.set(serverId, turns);
  return turns(userId, work);
}

function unavailable(way: Way, cause: unknown): AppError {
  return new AppError('unavailable', {
    publicMessage: `${way.model_name} does not answer. Try again`,
    cause,
  });
}

/** A whole answer. One that breaks off, or is none, is the model server's fault. */
async function readAnswer(answer: IncomingMessage, way: Way): Promise<{ text: string; usage: Usage }> {
  try {
    const text = await readText(answer);
    return { text, usage: readUsage(JSON.parse(text)) ?? { promptTokens: 0, completionTokens: 0 } };
  } catch (error) {
    throw unavailable(way, error);
  }
}

/** The model server's own error: what is the caller's fault is told in its words. */
async function toError(answer: IncomingMessage, way: Way): Promise<AppError> {
  const text = await readText(answer);
  if ((answer.statusCode ?? 500) >= 500) return unavailable(way, new Error(text));
  return new AppError('invalid_request', {
    publicMessage: readMessage(text) ?? 'The model server refused the request',
  });
}

function readMessage(text: string): string | null {
  try {
    const data: unknown = JSON.parse(text);
    const error = typeof data === 'object' && data !== null && 'error' in data ? data.error : null;
    const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : null;
    return typeof message === 'string' ? message : null;
  } catch {
    return null;
  }
}

function beginEvents(raw: Raw, headers: Record<string, unknown>): void {
  if (raw.headersSent) return;
  raw.writeHead(200, {
    ...(headers as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
}

/** A line that event-stream clients pass over, so that a person who looks sees what is going on. */
function comment(raw: Raw, headers: Record<string, unknown>, phase: string): void {
  beginEvents(raw, headers);
  raw.write(`: waking, ${phase}\n\n`);
}

async function passEvents(
  answer: IncomingMessage,
  stream: CompletionStream,
  raw: Raw,
  signal: AbortSignal,
  onFirstToken: () => void,
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  for await (const chunk of answer) {
    const started = stream.started;
    const events = stream.push(decoder.write(chunk as Buffer));
    if (!started && stream.started) onFirstToken();
    // A slow reader slows the model server down instead of filling our memory.
    if (events && !raw.write(events)) await drained(raw, signal);
  }
  raw.end(stream.finish());
}

/** Waits until the reader has taken what there is. One who takes nothing for too long has gone. */
async function drained(raw: Raw, signal: AbortSignal): Promise<void> {
  const giveUp = setTimeout(() => raw.destroy(), READER_MS_MAX);
  try {
    await once(raw, 'drain', { signal });
  } finally {
    clearTimeout(giveUp);
  }
}

/** The headers are long gone: the error is the last event. */
function failEvents(raw: Raw, error: unknown, requestId: string): void {
  const known =
    error instanceof AppError
      ? error
      : new AppError('unavailable', {
          publicMessage: 'The model server stopped in the middle of the answer. Try again',
          cause: error,
        });
  raw.end(`data: ${JSON.stringify(toErrorBody(known, requestId))}\n\n`);
}
