import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { toErrorBody } from '../../platform/http/send-error.ts';
import { hold } from '../credits/ledger.ts';
import { costMicro } from '../credits/quote.ts';
import { awaitModelServer } from './await-model-server.ts';
import { CompletionStream, readUsage, type Usage, withModelName } from './completion-stream.ts';
import { ModelServerUnreachable, postToModelServer, readText } from './model-server-client.ts';
import { recordRequest } from './record-request.ts';
import { resolveModel, type Route } from './resolve-model.ts';
import { CONTEXT_TOKENS } from './text-server-spec.ts';

type CompletionBody = {
  model: string;
  stream?: boolean | null;
  stream_options?: { include_usage?: boolean } | null;
  [parameter: string]: unknown;
};

/** How long a request may take before its hold lets go by itself. */
const HOLD_MS = 30 * 60_000;

/**
 * Passes an OpenAI-style request on to the model server and its answer back, byte for byte where
 * that can be. What the answer can cost at most is held first; what it did cost is settled after.
 */
export async function answerCompletion(
  ctx: Context,
  path: '/v1/chat/completions' | '/v1/completions',
  body: CompletionBody,
  { reply }: Http,
): Promise<void> {
  const route = await resolveModel(ctx, body.model);
  const request = { id: randomUUID(), at: ctx.clock.now(), startedMs: performance.now() };
  const holdId = await holdRequest(ctx, route, request.id);

  const hungUp = new AbortController();
  reply.raw.on('close', () => {
    if (!reply.raw.writableEnded) hungUp.abort();
  });
  let usage: Usage = { promptTokens: 0, completionTokens: 0 };
  let firstTokenMs: number | null = null;
  let ok = false;
  try {
    const answer = await reach(ctx, route, path, body, hungUp.signal, (phase) => {
      if (body.stream) comment(reply.raw, reply.getHeaders(), phase);
    });
    if ((answer.statusCode ?? 500) >= 400) throw await toError(answer, route);
    if (body.stream) {
      const stream = new CompletionStream(route.modelName, body.stream_options?.include_usage === true);
      beginEvents(reply.raw, reply.getHeaders());
      try {
        await passEvents(answer, stream, reply.raw, () => {
          firstTokenMs = Math.round(performance.now() - request.startedMs);
        });
      } finally {
        usage = stream.usage;
      }
    } else {
      const text = await readText(answer);
      usage = readUsage(JSON.parse(text)) ?? usage;
      reply.header('content-type', 'application/json; charset=utf-8').send(withModelName(text, route.modelName));
    }
    ok = true;
  } catch (error) {
    if (hungUp.signal.aborted) return;
    if (!reply.raw.headersSent) throw error;
    ctx.log.warn({ err: error, model: route.modelName }, 'a completion broke off');
    failEvents(reply.raw, error, ctx.requestId);
  } finally {
    await recordRequest(ctx, route, holdId, {
      id: request.id,
      at: request.at,
      ok,
      usage,
      firstTokenMs,
      totalMs: Math.round(performance.now() - request.startedMs),
    });
  }
}

/** Holds the price of a full context: no answer can cost more. */
async function holdRequest(ctx: Context, route: Route, requestId: string): Promise<string> {
  const { holdId } = await ctx.db.transaction().execute((tx) =>
    hold(tx, {
      userId: ctx.caller.userId,
      amountMicro: costMicro([{ priceId: route.prices.completion, parts: BigInt(CONTEXT_TOKENS) }]),
      kind: 'llm_inference',
      description: `Tokens of ${route.modelName}`,
      references: {
        asset_name: route.modelName,
        request_id: requestId,
        ...(route.podId && { pod_id: route.podId }),
      },
      expiresAt: new Date(ctx.clock.now().getTime() + HOLD_MS),
      idempotencyKey: `completion:${requestId}`,
    }),
  );
  return holdId;
}

/** Sends the request to whichever server answers; one that was replaced in between is looked up once more. */
async function reach(
  ctx: Context,
  route: Route,
  path: string,
  body: CompletionBody,
  signal: AbortSignal,
  onWait: (phase: string) => void,
): Promise<IncomingMessage> {
  const asked = body.stream ? { ...body, stream_options: { ...body.stream_options, include_usage: true } } : body;
  for (let attempt = 1; ; attempt += 1) {
    const server = await awaitModelServer(ctx, route, signal, onWait);
    try {
      return await postToModelServer(server.baseUrl + path, { ...asked, ...server.selection }, signal);
    } catch (error) {
      if (!(error instanceof ModelServerUnreachable) || attempt === 3) throw unavailable(route, error);
    }
  }
}

function unavailable(route: Route, cause: unknown): AppError {
  return new AppError('unavailable', { publicMessage: `${route.modelName} does not answer. Try again`, cause });
}

/** The model server's own error: what is the caller's fault is told in its words. */
async function toError(answer: IncomingMessage, route: Route): Promise<AppError> {
  const text = await readText(answer);
  const status = answer.statusCode ?? 500;
  if (status >= 500) return unavailable(route, new Error(text));
  return new AppError('invalid_request', { publicMessage: readMessage(text) ?? 'The model server refused the request' });
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

type Raw = Http['reply']['raw'];

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
  onFirstToken: () => void,
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  for await (const chunk of answer) {
    const started = stream.started;
    const events = stream.push(decoder.write(chunk as Buffer));
    if (!started && stream.started) onFirstToken();
    if (events && !raw.write(events)) await drained(raw);
  }
  raw.end(stream.finish());
}

function drained(raw: Raw): Promise<void> {
  return new Promise((resolve) => {
    raw.once('drain', resolve);
    raw.once('close', resolve);
  });
}

/** The headers are long gone: the error is the last event. */
function failEvents(raw: Raw, error: unknown, requestId: string): void {
  const known =
    error instanceof AppError
      ? error
      : new AppError('unavailable', { publicMessage: 'The model server broke off. Try again', cause: error });
  raw.end(`data: ${JSON.stringify(toErrorBody(known, requestId))}\n\n`);
}
