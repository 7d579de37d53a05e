import type { IncomingMessage } from 'node:http';
import type { createEmbeddings } from '@bakehouse/contract/embeddings';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { AppError, invalidParam, modelUnavailable } from '../../../platform/errors.ts';
import { costMicro } from '../../billing/prices/cost.ts';
import type { ModelServer } from '../../deployments/reach/await-model-server.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { listBaseFiles } from '../../deployments/servers/model-servers.ts';
import { readModelJson } from '../../models/weights/model-files.ts';
import { postToModelServer, readText } from '../../serving/ask/model-server-client.ts';
import { NON_STREAMING_MS_MAX } from '../../serving/ask/request-deadline.ts';
import { callModel, type RunningCall } from '../call-model.ts';
import type { ChatParts } from '../chat-parts.ts';
import { withModelServer } from '../upstream/with-model-server.ts';
import {
  areTokens,
  type EmbeddingInputs,
  longestFirst,
  toBatches,
  toInputs,
  tokensMax,
} from './embedding-inputs.ts';

const refusal = z.object({
  error: z.object({
    message: z.string(),
    index: z.int().optional(),
    n_prompt_tokens: z.number().nullish(),
    n_ctx: z.number().nullish(),
  }),
});

/** The model server's answer. Vectors are base64, which avoids formatting and parsing numbers. */
const answerSchema = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.string() })),
  usage: z.object({ prompt_tokens: z.int().min(0).max(10_000_000) }),
});

/** A vector of 65,536 numbers in base64, plus JSON around it. */
const VECTOR_BYTES_MAX = 352 * 1024;

/** The fields of a model's configuration that allow shortened vectors (Matryoshka). */
const config = z.object({
  hidden_size: z.int().optional().catch(undefined),
  is_matryoshka: z.boolean().optional().catch(undefined),
  matryoshka_dimensions: z.array(z.int()).optional().catch(undefined),
});

/** Maximum size of one answer. */
const ANSWER_BYTES_MAX = 32 * 1024 ** 2;

/**
 * Maximum bytes of a number in the response. As text, 21 including the comma; in base64, its four bytes
 * become 5.34.
 */
const NUMBER_BYTES = { float: 21, base64: 5.34 };

type Input = InputOf<typeof createEmbeddings>;

/**
 * Returns the vectors of texts. If the client disconnects or an input is rejected, the computed vectors are
 * charged. A request that fails for another reason is free.
 */
export function answerEmbeddings(
  ctx: Context,
  parts: ChatParts,
  { body }: Input,
  client: AbortSignal,
): Promise<ResponseOf<typeof createEmbeddings>> {
  return callModel(ctx, parts, {
    ...{ modelName: body.model, kind: 'embedding' as const },
    ...{ client, inAllMs: NON_STREAMING_MS_MAX },
    prepare: async (upstream, priceList) => {
      await checkDimensions(ctx, upstream, body.dimensions);
      const inputs = toInputs(body.input);
      const price = priceList[`embedding_tokens:${upstream.accelerator ? 'GPU' : 'CPU'}`];
      return {
        quote: {
          prices: { prompt: price, completion: price },
          reservedMicro: costMicro([{ price, parts: BigInt(tokensMax(inputs, upstream.context_tokens)) }]),
        },
        run: async (call) => {
          const vectors = await requestEmbeddings(ctx, parts, call, { body, inputs });
          const answer = { vectors, tokens: call.used.usage.promptTokens };
          return toAnswer(body, upstream.model_name, answer);
        },
      };
    },
  });
}

async function requestEmbeddings(
  ctx: Context,
  parts: ChatParts,
  call: RunningCall<'embedding'>,
  { body, inputs }: { body: Input['body']; inputs: EmbeddingInputs },
): Promise<Buffer[]> {
  const vectors: Buffer[] = [];
  const isOne = inputs.length === 1;
  for (const batch of longestFirst(toBatches(inputs))) {
    const found = await embedBatch(ctx, parts, call, { ...batch, isOne });
    const { promptTokens } = call.used.usage;
    call.used.usage = { promptTokens: promptTokens + found.tokens, completionTokens: 0 };
    assertAnswerFits(body, { count: inputs.length, vector: found.vectors[0] });
    for (const [index, vector] of found.vectors.entries()) vectors[batch.start + index] = vector;
  }
  return vectors;
}

function toAnswer(
  { dimensions, encoding_format: format }: Input['body'],
  model: string,
  { vectors, tokens }: { vectors: Buffer[]; tokens: number },
): ResponseOf<typeof createEmbeddings> {
  const data = vectors.map((vector, index) => {
    const sized = dimensions && dimensions * 4 < vector.length ? shorten(vector, dimensions) : vector;
    const embedding = format === 'base64' ? sized.toString('base64') : toNumbers(sized);
    return { object: 'embedding' as const, index, embedding };
  });
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/**
 * Returns the vectors of one batch of inputs from any server of the model. Users take turns between batches.
 * `isOne` is true if the request has only this input. Throws the errors of waking a server, the rejection of
 * an input, and AppError 'unavailable'.
 */
async function embedBatch(
  ctx: Context,
  parts: ChatParts,
  call: RunningCall<'embedding'>,
  { start, inputs, isOne }: { start: number; inputs: EmbeddingInputs; isOne: boolean },
): Promise<Vectors> {
  const { upstream, signal, deadline } = call;
  return withModelServer(ctx, parts, call, { kind: 'embedding' }, (server) => {
    deadline.progress();
    return send(server, inputs, signal, { start, isOne, modelName: upstream.model_name });
  });
}

type Asked = { start: number; isOne: boolean; modelName: string };

async function send(
  server: ModelServer<'embedding'>,
  inputs: EmbeddingInputs,
  signal: AbortSignal,
  { start, isOne, modelName }: Asked,
): Promise<Vectors> {
  const count = inputs.length;
  if (server.engine !== 'encoder' && areTokens(inputs)) {
    const rejection = { error: { message: 'this model takes text, and no token ids', index: 0 } };
    throw toEmbeddingError(JSON.stringify(rejection), { start, count, isOne });
  }
  const { baseUrl, key, isRouter } = server;
  const target = { url: `${baseUrl}/v1/embeddings`, key, isRouter };
  const answer = await postToModelServer(
    target,
    { model: 'base', input: inputs, encoding_format: 'base64' },
    signal,
  );
  const status = answer.statusCode ?? 500;
  if (status >= 500)
    throw modelUnavailable(`${modelName} does not answer`, new Error(await readText(answer)));
  if (status >= 400) throw toEmbeddingError(await readText(answer), { start, count, isOne });
  return readAnswer(answer, { count, modelName, signal });
}

async function readAnswer(
  answer: IncomingMessage,
  { count, modelName, signal }: { count: number; modelName: string; signal: AbortSignal },
): Promise<Vectors> {
  try {
    return readVectors((await readAtMost(answer, count * VECTOR_BYTES_MAX)).toString('utf8'), count);
  } catch (error) {
    throw signal.aborted ? error : modelUnavailable(`${modelName} does not answer`, error);
  }
}

/** Limit the size, because a compromised model server may never end its answer. */
async function readAtMost(answer: IncomingMessage, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let read = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    read += chunk.length;
    if (read > bytes) throw new Error(`model server answer exceeds ${bytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Rejects `dimensions` for models that were not trained for them: shortened vectors are meaningless. */
async function checkDimensions(
  ctx: Context,
  upstream: Upstream<'embedding'>,
  dimensions: number | null | undefined,
): Promise<void> {
  if (dimensions === null || dimensions === undefined) return;
  const { db } = ctx;
  const files = await listBaseFiles(db, upstream.server_id);
  const modelConfig = config.safeParse((await readModelJson(ctx, files, 'config.json')) ?? {}).data ?? {};
  const { hidden_size: size, matryoshka_dimensions: allowed, is_matryoshka: isMatryoshka } = modelConfig;
  if (dimensions === size || allowed?.includes(dimensions)) return;
  if (isMatryoshka && !allowed && size !== undefined && dimensions < size) return;
  const name = upstream.model_name;
  const sentence = allowed?.length
    ? `${name} can be asked for ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(allowed.map(String))}`
    : `the vectors of ${name} cannot be shortened. Leave it out`;
  throw invalidParam('dimensions', `dimensions: ${sentence}`);
}

/** Rejects inputs whose vectors do not fit into one answer, judged by the size of the first vector. */
export function assertAnswerFits(
  {
    dimensions,
    encoding_format: format,
  }: { dimensions?: number | null; encoding_format?: 'float' | 'base64' | null },
  { count, vector }: { count: number; vector: Buffer | undefined },
): void {
  const size = (vector?.length ?? 0) / 4;
  const numbers = Math.min(dimensions ?? size, size);
  const most = Math.max(1, Math.floor(ANSWER_BYTES_MAX / NUMBER_BYTES[format ?? 'float'] / numbers));
  if (count <= most) return;
  throw invalidParam(
    'input',
    `input: at most ${most} inputs in one request, where each vector has ${numbers} numbers${format === 'base64' ? '' : '. Ask for encoding_format base64'}, or send the others in another`,
  );
}

type ToEmbeddingRefusalAsked = { start: number; count: number; isOne: boolean };

/** Converts a model server's rejection of the inputs from `start`, and names the input if known. */
function toEmbeddingError(answer: string, { start, count, isOne }: ToEmbeddingRefusalAsked): AppError {
  const error = parse(answer);
  const index = error?.index ?? (count === 1 ? 0 : undefined);
  const param = isOne || index === undefined ? 'input' : `input[${start + index}]`;
  const message = error?.message ?? 'The model server refused the request';
  if (!/context (size|length)/i.test(message) && !error?.n_ctx) {
    return invalidParam(param, `${param}: ${message}`);
  }
  const most = error?.n_ctx ?? /maximum context length is (\d+)/i.exec(message)?.[1];
  const what = param === 'input' && !isOne ? 'an input' : param;
  const sent = error?.n_prompt_tokens ? `has ${error.n_prompt_tokens}` : 'has more';
  const excess = most
    ? `This model's maximum context length is ${most} tokens, but ${what} ${sent}`
    : `${what} is longer than this model's maximum context length`;
  return new AppError('context_length_exceeded', {
    publicMessage: `${excess}. Shorten it, or split it`,
    param,
  });
}

function parse(answer: string): z.infer<typeof refusal>['error'] | null {
  try {
    return refusal.parse(JSON.parse(answer)).error;
  } catch {
    return null;
  }
}

type Vectors = { vectors: Buffer[]; tokens: number };

/** Parses an answer for `count` inputs. Throws if vectors are missing or differ in size. */
function readVectors(text: string, count: number): Vectors {
  const { data, usage } = answerSchema.parse(JSON.parse(text));
  const sorted = data.toSorted((one, other) => one.index - other.index);
  const vectors = sorted.map(({ embedding }) => Buffer.from(embedding, 'base64'));
  const bytes = vectors[0]?.length ?? 0;
  const isWhole = sorted.length === count && sorted.every(({ index }, place) => index === place);
  if (!isWhole || bytes === 0 || bytes % 4 !== 0 || vectors.some(({ length }) => length !== bytes))
    throw new Error('model server answer does not contain the vectors of the inputs');
  return { vectors, tokens: usage.prompt_tokens };
}

/** Returns the first numbers of a vector of 32-bit floats, normalised to length 1. */
function shorten(vector: Buffer, dimensions: number): Buffer {
  const numbers = toNumbers(vector).slice(0, dimensions);
  const length = Math.hypot(...numbers) || 1;
  const shortened = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) shortened.writeFloatLE(number / length, index * 4);
  return shortened;
}

function toNumbers(vector: Buffer): number[] {
  return Array.from({ length: vector.length / 4 }, (_, index) => vector.readFloatLE(index * 4));
}
