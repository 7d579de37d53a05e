import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { chatCompletions, completions } from '@bakehouse/contract/chat';
import { countTrainingRunsNextTo } from '../../engine/workloads.ts';
import type { Context } from '../../platform/context.ts';
import { AppError, modelUnavailable, unavailable } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/answer.ts';
import { EVENT_HEADERS } from '../../platform/http/send-page.ts';
import { isCreditExhausted } from '../billing/ledger/holds/holds.ts';
import type { ModelServer } from '../deployments/reach/await-model-server.ts';
import type { Upstream } from '../deployments/reach/upstream.ts';
import { readText } from '../serving/ask/model-server-client.ts';
import { NON_STREAMING_MS_MAX, REQUEST_MS_MAX } from '../serving/ask/request-deadline.ts';
import { type AnswerShape, chatShape, ignoredWarning, knownFields, warningHeaders } from './answer-shape.ts';
import {
  bindingOf,
  type CompletionBody,
  requestedCandidates,
  toBoundRequest,
} from './body/completion-request.ts';
import { type ChoiceRequest, renameField, splitChoices } from './body/rename-field.ts';
import { withTemplateOptions } from './body/template-options.ts';
import { callModel, type RunningCall } from './call-model.ts';
import type { ChatParts } from './chat-parts.ts';
import { type Chunk, CompletionStream } from './completion-stream.ts';
import { pictureRoom } from './pictures/held-pictures.ts';
import { withPictures } from './pictures/read-pictures.ts';
import { firstCostMicro, recordLongPrompt, reserveAsUsed, usageBounds } from './requests/requests.ts';
import { toModelServerError } from './to-model-server-error.ts';
import { tokenPrices } from './token-prices.ts';
import { isCustomOf, withFunctions } from './tools/chat-tools.ts';
import { type CompletionPath, reachModelServer } from './upstream/reach-model-server.ts';

/** The parsed request, the format of its answer, and warnings about fields that this server ignores. */
type Asked = { path: CompletionPath; body: CompletionBody; shape: AnswerShape; warnings: string[] };

type Question = {
  model: string;
  isStream: boolean;
  /** Parses the request after the user was admitted. A request that throws here is free. */
  read: () => Asked | Promise<Asked>;
};

type Answering = RunningCall & {
  asked: Asked;
  choices: (ChoiceRequest & { bounds: ReturnType<typeof usageBounds> })[];
  reserve: ReturnType<typeof reserveAsUsed>;
  /** Null if the answer is not streamed. */
  output: EventOutput | null;
};

/**
 * Answers OpenAI's chat and text completions. Aborting `client` stops the answer; the written tokens are
 * charged.
 */
export function completeChat(
  ctx: Context,
  parts: ChatParts,
  { path, body: sent }: { path: CompletionPath; body: CompletionBody },
  client: AbortSignal,
): Promise<Answer<object>> {
  const isStream = sent.stream === true;
  let places: string[] | undefined;
  const read = () => {
    const endpoint = path === '/v1/completions' ? completions : chatCompletions;
    const { body, offered } = withFunctions(knownFields(endpoint.body, sent));
    places = offered?.places;
    const warnings = [...ignoredWarning(endpoint.body, sent), ...(offered?.warnings ?? [])];
    return { path, body, shape: chatShape(body, isCustomOf(offered?.clientTools)), warnings };
  };
  return answerCompletion(ctx, parts, { model: sent.model, isStream, read }, client).catch(
    (error: unknown) => {
      throw places ? renameField(error, { names: [], toolPlaces: places }) : error;
    },
  );
}

/**
 * Sends a completion to the model server, and returns the answer in the format of the calling endpoint. A
 * streamed answer is returned when its first text arrives; a later error becomes the last event of the
 * stream.
 */
export async function answerCompletion(
  ctx: Context,
  parts: ChatParts,
  { model, isStream, read }: Question,
  client: AbortSignal,
): Promise<Answer<object>> {
  const output = isStream ? new EventOutput() : null;
  let shape: AnswerShape | undefined;
  const room = pictureRoom(ctx.caller.userId);
  let headers = {};
  const answering = callModel(ctx, parts, {
    ...{ modelName: model, kind: 'text' as const, client },
    inAllMs: isStream ? REQUEST_MS_MAX : NON_STREAMING_MS_MAX,
    prepare: async (upstream, priceList) => {
      const sent = await read();
      const seen = await withPictures(ctx, sent.body, upstream, { signal: client, room });
      const { body: chat, warnings } = await withTemplateOptions(ctx, seen, upstream);
      const asked = { ...sent, body: chat };
      const choices = splitChoices(asked.body).map((choice) => ({
        ...choice,
        bounds: usageBounds(choice.body, upstream),
      }));
      // Build every request now, because an invalid one must be rejected before anything is charged.
      const served = { engine: upstream.engine, contextTokens: upstream.context_tokens };
      for (const { body } of choices) await toBoundRequest(body, served, ctx.caller.userId);
      const prices = tokenPrices(upstream, priceList);
      shape = asked.shape;
      headers = warningHeaders([...sent.warnings, ...warnings]);
      return {
        quote: { prices, reservedMicro: firstCostMicro(prices, choices) },
        run: (call) => {
          const reserve = reserveAsUsed({ prices, choices }, call.extend);
          return answerChoices(ctx, parts, { ...call, asked, choices, reserve, output });
        },
      };
    },
  }).finally(room.leave);
  if (!output) return new Answer(await answering, { headers });
  const ended = answering.catch((error: unknown) => {
    if (!output.hasBegun || !shape) throw error;
    if (client.aborted) return void output.stream.destroy();
    ctx.log.warn({ err: error, model }, 'completion failed mid-stream');
    output.end(failureText(shape, error, ctx.requestId));
  });
  await Promise.race([output.begun.promise, ended]);
  return new Answer(output.stream, { headers: { ...headers, ...EVENT_HEADERS } });
}

/**
 * Requests the choices one after the other, and charges each prompt once. Returns the non-streamed answer.
 */
async function answerChoices(ctx: Context, parts: ChatParts, call: Answering): Promise<object> {
  const { asked, choices, output, used } = call;
  const { path, shape } = asked;
  let reason = '';
  const onWait = (next: string) => {
    reason = next;
  };
  const heartbeat = output?.sendKeepAlives(async () =>
    // A failure to find the reason must not end the answer.
    shape.waiting(reason || (await describeBusyMachine(ctx, call.upstream).catch(() => ''))),
  );
  let id: string | null = null;
  try {
    for (const choice of choices) {
      const question = { path, body: choice.body, onWait };
      await reachModelServer(ctx, parts, call, question, async (response, server, wasRead) => {
        if ((response.statusCode ?? 500) >= 400) throw await toError(response, call);
        const stream = streamOf(server, call, { choice, id });
        try {
          await pass(response, stream, { ...call, choice }, { heartbeat, wasRead });
        } finally {
          recordLongPrompt(ctx.log, call.upstream, choice.bounds, stream.usage);
        }
        id = stream.id;
      });
    }
  } catch (error) {
    const isCut = isTimeOver(call) || isCreditExhausted(error);
    if (output || used.usage.completionTokens === 0 || !isCut) throw error;
    shape.cut();
  } finally {
    clearInterval(heartbeat);
  }
  if (!output) return shape.whole(used.usage);
  output.end(await shape.end(used.usage));
  return {};
}

type Choice = Answering['choices'][number];

function streamOf(
  { engine }: ModelServer,
  { upstream }: Answering,
  { choice: { index, body }, id }: { choice: Choice; id: string | null },
): CompletionStream {
  return new CompletionStream({
    engine,
    modelName: upstream.model_name,
    candidates: requestedCandidates(body),
    binding: bindingOf(body, engine),
    ...{ index, id },
  });
}

/** Streams or collects one answer. Updates the usage after every chunk. */
async function pass(
  response: IncomingMessage,
  stream: CompletionStream,
  { upstream, asked: { shape }, choice, reserve, output, ...call }: Answering & { choice: Choice },
  { heartbeat, wasRead }: { heartbeat: NodeJS.Timeout | undefined; wasRead: () => void },
): Promise<void> {
  const { signal, deadline, beganMs, used } = call;
  const before = used.usage;
  const recordUsage = () => {
    const { promptTokens, completionTokens } = stream.usage;
    used.usage = {
      promptTokens: before.promptTokens + (choice.isFirst ? promptTokens : 0),
      completionTokens: before.completionTokens + completionTokens,
    };
  };
  if (output && choice.index === 0) {
    output.begin();
    await output.send(shape.begin(), signal);
  }
  let events = 0;
  let hasBegun = false;
  try {
    await readChunks(response, stream, async (chunks) => {
      // Comments that the model server sends to keep the connection open are not progress.
      if (stream.events > events) deadline.progress();
      events = stream.events;
      recordUsage();
      if (stream.started && !hasBegun) {
        hasBegun = true;
        used.firstTokenMs ??= Math.round(performance.now() - beganMs);
        wasRead();
      }
      if (chunks.length > 0) heartbeat?.refresh();
      const text = shape.add(chunks, stream);
      await output?.send(text, signal);
      await reserve(used.usage.completionTokens);
    });
  } catch (error) {
    const isKnown = signal.aborted || output?.hasBegun || isCreditExhausted(error);
    throw isKnown ? error : doesNotAnswer(upstream, error);
  } finally {
    recordUsage();
  }
}

/**
 * Returns true if the call ended because its maximum total time has passed. False for a stalled model server
 * and any other cause.
 */
function isTimeOver({ signal, deadline }: Answering): boolean {
  return deadline.signal.aborted && !deadline.isOurs() && signal.reason === deadline.signal.reason;
}

/** Converts the model server's error. Callers see its text only if they caused the error. */
async function toError(
  response: IncomingMessage,
  { upstream, asked: { body } }: Answering,
): Promise<AppError> {
  const text = await readText(response);
  if ((response.statusCode ?? 500) >= 500) return doesNotAnswer(upstream, new Error(text));
  return toModelServerError(text, body);
}

function doesNotAnswer({ model_name: modelName }: Upstream, cause: unknown): AppError {
  return modelUnavailable(`${modelName} does not answer`, cause);
}

/** Reads the model server's answer to the end. Throws if the connection breaks off. */
async function readChunks(
  answer: IncomingMessage,
  stream: CompletionStream,
  take: (chunks: Chunk[]) => Promise<void> | void,
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  for await (const piece of answer) await take(stream.push(decoder.write(piece as Buffer)));
  if (!stream.complete) throw new Error('model server closed the connection before the end of its answer');
}

/** Returns a reason if other work slows the processors down that answer; otherwise an empty text. */
async function describeBusyMachine({ db }: Context, { accelerator, workload }: Upstream): Promise<string> {
  const runs = workload && accelerator === null ? await countTrainingRunsNextTo(db, workload.id) : 0;
  if (runs === 0) return '';
  return `The server is busy with ${runs === 1 ? 'a training run' : `${runs} training runs`}`;
}

/** Returns the text that ends a failed stream. */
function failureText(shape: AnswerShape, error: unknown, requestId: string): string {
  const known =
    error instanceof AppError
      ? error
      : unavailable('The model server stopped in the middle of the answer. Try again', { cause: error });
  return shape.failure(known, requestId);
}

/** Proxies close a connection that is idle for a minute, and people want a reason after ten seconds. */
const HEARTBEAT_MS = 10_000;

/**
 * Maximum time during which a client may read nothing, because its answer occupies a slot of the model
 * server.
 */
const READER_MS_MAX = 30_000;

/** The text of a streamed answer, with backpressure. */
class EventOutput {
  readonly stream = new PassThrough({ highWaterMark: 16 * 1024 });
  /** Resolves when the first text is sent. Until then, an error can still set the HTTP status. */
  readonly begun = Promise.withResolvers<void>();
  hasBegun = false;

  constructor() {
    // Without a listener, an error of the stream would end the process. The error already ends the response.
    this.stream.on('error', () => undefined);
  }

  begin(): void {
    this.hasBegun = true;
    this.begun.resolve();
  }

  /**
   * Sends a text. If the client reads slowly, waits for it, which also slows the model server down and saves
   * memory.
   */
  async send(text: string, signal: AbortSignal): Promise<void> {
    if (text !== '' && !this.stream.write(text)) await this.drained(signal);
  }

  /** Sends a text without waiting for the client. */
  sendAside(text: string): void {
    if (this.stream.writableEnded || this.stream.destroyed) return;
    this.begin();
    this.stream.write(text);
  }

  /**
   * Sends the text whenever nothing was sent for ten seconds. Call `refresh` after any other output. The caller
   * clears the timer.
   */
  sendKeepAlives(nextText: () => Promise<string>): NodeJS.Timeout {
    const send = () => void nextText().then((text) => this.sendAside(text));
    return setInterval(send, HEARTBEAT_MS).unref();
  }

  end(text: string): void {
    this.begin();
    this.stream.end(text);
  }

  /** Waits until the client has read all output. Disconnects a client that reads nothing for too long. */
  private async drained(signal: AbortSignal): Promise<void> {
    const giveUp = setTimeout(() => this.stream.destroy(), READER_MS_MAX);
    try {
      await once(this.stream, 'drain', { signal });
    } finally {
      clearTimeout(giveUp);
    }
  }
}
