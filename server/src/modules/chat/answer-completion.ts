import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context } from '../../platform/context.ts';
import type { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { untilKeyEnds } from '../../platform/http/callers/until-key-ends.ts';
import { clientSignal } from '../../platform/http/client-signal.ts';
import type { Reservation } from '../credits/usage/usage-leader.ts';
import type { ModelServer } from '../deployments/reach/await-model-server.ts';
import { findTextModel } from '../deployments/reach/find-text-model.ts';
import { keepInUse } from '../deployments/reach/keep-in-use.ts';
import type { Upstream } from '../deployments/reach/upstream.ts';
import { readText } from '../serving/ask/model-server-client.ts';
import {
  IN_ALL_MS_MAX,
  ONE_PIECE_MS_MAX,
  type RequestDeadline,
  requestDeadline,
} from '../serving/ask/request-deadline.ts';
import { unavailable } from '../serving/ask/unavailable.ts';
import { admitRequest, RETRY_AFTER_S } from './admit-request.ts';
import { type AnswerShape, chatShape } from './answer-shape.ts';
import { askedCandidates, type CompletionBody, toServerRequest } from './body/completion-request.ts';
import type { ChatParts } from './chat-parts.ts';
import { CompletionStream, type Usage } from './completion-stream.ts';
import { beginEvents, failEvents, keepAlive, readChunks, sendComment, sendText } from './pass-answer.ts';
import { highestCostMicro, noteUsage, usageBounds } from './requests/highest-cost.ts';
import { recordRequest } from './requests/record-request.ts';
import { toRefusal } from './to-refusal.ts';
import { type TokenPrices, tokenPrices } from './token-prices.ts';
import { toolsOf } from './tools/asked-tools.ts';
import { type CompletionPath, reachModelServer } from './upstream/reach-model-server.ts';
import { WholeAnswer } from './whole-answer.ts';

/** What is known of an answer when it has ended, in whichever way. */
type Outcome = { ok: boolean; usage: Usage; firstTokenMs: number | null };

const NOTHING: Usage = { promptTokens: 0, completionTokens: 0 };

/** What is asked, and in which shape it is answered: that of a chat unless said. */
type Asked = { path: CompletionPath; body: CompletionBody; shape?: AnswerShape };

/** One call while it lasts. */
type Call = {
  upstream: Upstream;
  body: CompletionBody;
  shape: AnswerShape;
  reply: Http['reply'];
  /** The client has disconnected, the time is over, the API key was revoked, or this server ends. */
  signal: AbortSignal;
  deadline: RequestDeadline;
  beganMs: number;
  outcome: Outcome;
};

/**
 * Passes an OpenAI-style request on to the model server and its answer back. What the answer can
 * cost at most is reserved first in a usage window; what it did cost is settled there after.
 */
export async function answerCompletion(
  ctx: Context,
  parts: ChatParts,
  { path, body, shape = chatShape(body) }: Asked,
  { reply }: Http,
): Promise<void> {
  const client = clientSignal(reply);
  const began = { at: ctx.clock.now(), ms: performance.now() };
  const leave = admit(ctx, reply);
  const inAllMs = body.stream ? IN_ALL_MS_MAX : ONE_PIECE_MS_MAX;
  const deadline = requestDeadline(body.model, 'text', { closing: ctx.closing, inAllMs });
  const key = untilKeyEnds(ctx);
  try {
    const upstream = await parts.recallUpstream(ctx.caller.userId, body.model, () =>
      findTextModel(ctx, parts, body.model),
    );
    // What is refused is refused before it costs anything.
    toServerRequest(body, upstream.engine);
    const signal = AbortSignal.any([client, deadline.signal, key.signal]);
    const outcome: Outcome = { ok: false, usage: NOTHING, firstTokenMs: null };
    const call: Call = { upstream, body, shape, reply, signal, deadline, beganMs: began.ms, outcome };
    const requestId = randomUUID();
    const prices = tokenPrices(upstream, await parts.recallPrices());
    const bounds = usageBounds(body, upstream);
    const reservation = await reserveAnswer(ctx, parts, upstream, { prices, bounds });
    let endUse = () => {};
    try {
      client.throwIfAborted();
      endUse = keepInUse(ctx, upstream);
      await answer(ctx, parts, path, call);
      outcome.ok = true;
    } catch (error) {
      if (client.aborted) {
        // Who stops an answer has not met an error.
        outcome.ok = true;
        return;
      }
      // An answer that we broke off was not bought, whatever of it has come.
      const isOurs = !(deadline.signal.aborted || key.signal.aborted) || deadline.isOurs();
      if (isOurs || outcome.usage.completionTokens === 0) outcome.usage = NOTHING;
      const known: unknown = reasonOf(key.signal) ?? reasonOf(deadline.signal) ?? error;
      if (!reply.raw.headersSent) throw known;
      ctx.log.warn({ err: known, model: upstream.model_name }, 'a completion broke off');
      failEvents(reply.raw, shape, known, ctx.requestId);
    } finally {
      endUse();
      noteUsage(ctx.log, upstream, bounds, outcome.usage);
      const totalMs = Math.round(performance.now() - began.ms);
      await recordRequest(
        ctx,
        parts,
        { upstream, reservation, prices },
        { id: requestId, at: began.at, totalMs, ...outcome },
      );
    }
  } finally {
    key.stop();
    deadline.stop();
    leave();
  }
}

function reasonOf(signal: AbortSignal): unknown {
  return signal.aborted ? signal.reason : null;
}

function admit(ctx: Context, reply: Http['reply']): () => void {
  try {
    return admitRequest(ctx, ctx.caller.userId);
  } catch (error) {
    reply.header('retry-after', RETRY_AFTER_S);
    throw error;
  }
}

/** Reserves the price that the answer can have at most. */
async function reserveAnswer(
  { caller }: Context,
  { usage }: ChatParts,
  upstream: Upstream,
  { prices, bounds }: { prices: TokenPrices; bounds: Usage },
): Promise<Reservation> {
  return usage.reserve({
    userId: caller.userId,
    keyId: caller.key?.id ?? null,
    use: 'llm_inference',
    source: upstream.pod_id === null ? `model:${upstream.model_name}` : `deployment:${upstream.pod_id}`,
    description: `Tokens of ${upstream.model_name}`,
    references: {
      asset_name: upstream.model_name,
      ...(upstream.pod_id && { pod_id: upstream.pod_id }),
    },
    unitPrices: [prices.prompt.unitPriceMicro, prices.completion.unitPriceMicro],
    priceMicro: highestCostMicro(prices, bounds),
  });
}

async function answer(ctx: Context, parts: ChatParts, path: CompletionPath, call: Call): Promise<void> {
  const { upstream, body, reply, signal, deadline } = call;
  const onWait = (phase: string) => {
    if (body.stream) sendComment(reply, `waking, ${phase}`);
  };
  const question = { upstream, path, body, signal, deadline, onWait };
  const heartbeat = body.stream ? keepAlive(reply) : undefined;
  try {
    await reachModelServer(ctx, parts, question, async (response, server, wasRead) => {
      if ((response.statusCode ?? 500) >= 400) throw await toError(response, call);
      await pass(response, server, call, { heartbeat, wasRead });
    });
  } finally {
    clearInterval(heartbeat);
  }
}

/** Passes the answer on as it comes, or in one piece, and notes what it used at every moment. */
async function pass(
  response: IncomingMessage,
  { engine }: ModelServer,
  call: Call,
  { heartbeat, wasRead }: { heartbeat: NodeJS.Timeout | undefined; wasRead: () => void },
): Promise<void> {
  const { upstream, body, shape, reply, signal, deadline, beganMs, outcome } = call;
  const stream = new CompletionStream({
    engine,
    modelName: upstream.model_name,
    candidates: askedCandidates(body),
    isRequiredCall: toolsOf(body)?.choice === 'required',
  });
  const whole = body.stream ? null : new WholeAnswer();
  if (!whole) {
    beginEvents(reply.raw, reply.getHeaders());
    await sendText(reply.raw, shape.begin(), signal);
  }
  let events = 0;
  try {
    await readChunks(response, stream, async (chunks) => {
      // Comments, which say only that the connection lives, are none.
      if (stream.events > events) deadline.progress();
      events = stream.events;
      outcome.usage = stream.usage;
      if (stream.started && outcome.firstTokenMs === null) {
        outcome.firstTokenMs = Math.round(performance.now() - beganMs);
        wasRead();
      }
      if (chunks.length > 0) heartbeat?.refresh();
      if (!whole) return sendText(reply.raw, shape.chunks(chunks), signal);
      for (const chunk of chunks) whole.add(chunk);
    });
  } catch (error) {
    if (!whole || !stream.started || !isTimeOver(call))
      throw signal.aborted || reply.raw.headersSent ? error : doesNotAnswer(upstream, error);
    whole.cut();
  } finally {
    outcome.usage = stream.usage;
  }
  if (whole) {
    const answered = await shape.whole(whole.toJson(stream.usage), stream.usage);
    reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(answered));
    return;
  }
  reply.raw.end(await shape.end(stream.usage, stream.usageChunk()));
}

/** Nothing else has ended it before. */
function isTimeOver({ signal, deadline }: Call): boolean {
  return deadline.signal.aborted && !deadline.isOurs() && signal.reason === deadline.signal.reason;
}

/** The model server's own error: what is the caller's fault is said. */
async function toError(response: IncomingMessage, { upstream, body }: Call): Promise<AppError> {
  const text = await readText(response);
  if ((response.statusCode ?? 500) >= 500) return doesNotAnswer(upstream, new Error(text));
  return toRefusal(text, body);
}

function doesNotAnswer({ model_name: modelName }: Upstream, cause: unknown): AppError {
  return unavailable(`${modelName} does not answer`, cause);
}
