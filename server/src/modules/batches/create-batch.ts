import { randomUUID } from 'node:crypto';
import {
  BATCH_BYTES_MAX,
  BATCH_LINES_MAX,
  type Batch,
  type BatchEndpoint,
  type createBatch as createBatchEndpoint,
} from '@bakehouse/contract/batches';
import type { InputOf } from '@bakehouse/contract/endpoint';
import { formatBytes } from '@bakehouse/contract/labels';
import * as z from 'zod';
import type { Context } from '../../platform/context.ts';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import { findUnstorable } from '../../platform/db/storable-text.ts';
import { type AppError, conflict, invalidParam } from '../../platform/errors.ts';
import { sentenceOf } from '../../platform/http/validation/invalid-request.ts';
import { readBlob } from '../../platform/storage/read-blob.ts';
import { spendOnce } from '../billing/spend-once.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { findFile } from '../datasets/openai-files/files.ts';
import { readJsonLines } from '../datasets/openai-files/json-lines.ts';
import type { Upstream } from '../deployments/reach/upstream.ts';
import { findUpstreamOf } from './answer-request.ts';
import { agreePrices, withAgreedPrices } from './batch-prices.ts';
import { getOwnBatch } from './batches.ts';
import { countBulk, insertBulk, lockBulk, startAnswers } from './bulk-answers.ts';
import { highestRequestCostMicro } from './prices.ts';
import { type BatchRequest, insertLines } from './queries.ts';
import { parseBody, type RequestBody } from './request-bodies.ts';

const READ_REQUESTS_FIELD = 'input_file_id';

const requestLine = z.object({
  custom_id: z
    .string('custom_id is required: your own name for this request')
    .min(1, 'custom_id is required: your own name for this request')
    .max(512, 'custom_id must have at most 512 characters'),
  method: z.literal('POST', "method must be 'POST'"),
  url: z.string(),
  body: z.record(z.string(), z.unknown(), 'body must be the body of the request'),
});

const FIELD = 'input_file_id';

/** Maximum per user, because a batch stores all of its requests in the database. */
const OPEN_MAX = 10;

type Body = InputOf<typeof createBatchEndpoint>['body'];

type Read = {
  file: Awaited<ReturnType<typeof findFile>>;
  model: string;
  total: number;
  highestMicro: bigint;
  prices: Record<string, string>;
};

/**
 * Creates a batch: reads its file and holds the maximum cost of its requests, or stores nothing. Throws
 * AppError 'not_found', 'invalid_request' for the first bad line, 'model_not_found', 'conflict' if too many
 * batches are running, 'insufficient_funds' and 'budget_exceeded'.
 */
export async function createBatch(ctx: Context, chat: ChatParts, { body }: { body: Body }): Promise<Batch> {
  const { id } = await spendOnce(
    ctx,
    chat.usage,
    { operation: 'create-batch', input: body },
    () => read(ctx, chat, body),
    (tx, found) => begin(tx, ctx, body, found),
  );
  return getOwnBatch(ctx, id);
}

async function read(
  ctx: Context,
  chat: ChatParts,
  { input_file_id: id, endpoint: url }: Body,
): Promise<Read> {
  await assertBatchLimit(ctx.db, ctx.caller.userId);
  const file = await findFile(ctx, id, FIELD);
  if (file.size_bytes > BigInt(BATCH_BYTES_MAX)) {
    const most = formatBytes(BATCH_BYTES_MAX);
    throw invalidParam(FIELD, `A batch has at most ${most} of requests. Send them as several batches`);
  }
  const agreed = agreePrices(await chat.recallPrices());
  const prices = withAgreedPrices(await chat.recallPrices(), agreed);
  let total = 0;
  let upstream: Pick<Upstream, 'accelerator' | 'context_tokens'> | null = null;
  let highestMicro = 0n;
  let model = '';
  for await (const { asked } of readRequests(await readBlob(ctx, file), url)) {
    model = asked.body.model;
    upstream ??= await findUpstreamOf(ctx, chat, { url, model });
    highestMicro += await highestRequestCostMicro(ctx, asked, { prices, upstream });
    total += 1;
  }
  return { file, model, total, highestMicro, prices: agreed };
}

async function begin(
  tx: Transaction,
  ctx: Context,
  body: Body,
  { file, model, total, highestMicro, prices }: Read,
): Promise<{ id: string }> {
  const { userId } = ctx.caller;
  const row = { id: randomUUID(), kind: 'batch' as const };
  const { id } = row;
  await lockBulk(tx, row.kind, userId);
  await assertBatchLimit(tx, userId);
  await insertBulk(tx, {
    ...{ ...row, user_id: userId, created_at: ctx.clock.now(), endpoint: body.endpoint, model },
    ...{ input_asset_id: file.asset_id, metadata: body.metadata ? toJson(body.metadata) : null },
  });
  // Read the file again instead of holding all requests in memory. Use the same connection, because waiting
  // for a second one could deadlock.
  const { blobs, clock, log } = ctx;
  await insertLines(tx, id, readJsonLines(await readBlob({ blobs, clock, log, db: tx }, file), FIELD));
  await startAnswers(tx, ctx, row, {
    ...{ highestMicro, prices, model, total, description: `Batch of ${total} requests to ${model}` },
  });
  return { id };
}

async function assertBatchLimit(db: Database | Transaction, userId: string): Promise<void> {
  if ((await countBulk(db, 'batch', { userId, isOpen: true })) < OPEN_MAX) return;
  throw conflict(`At most ${OPEN_MAX} batches can be unfinished. Wait for one to end, or cancel one`);
}

type ReadRequest = BatchRequest & { asked: RequestBody };

/**
 * Yields the requests of a batch, parsed for its endpoint, which must all use one model. Throws AppError
 * 'invalid_request' for the first invalid line.
 */
async function* readRequests(
  bytes: AsyncIterable<Buffer>,
  endpoint: BatchEndpoint,
): AsyncGenerator<ReadRequest> {
  const ids = new Set<string>();
  let model: string | null = null;
  for await (const { number, value } of readJsonLines(bytes, READ_REQUESTS_FIELD)) {
    if (ids.size === BATCH_LINES_MAX)
      throw invalidParam(
        READ_REQUESTS_FIELD,
        `A batch has at most ${BATCH_LINES_MAX} requests. Send them as several batches`,
      );
    const request = readRequest(number, value, endpoint);
    if (ids.has(request.customId))
      throw atLine(number, `custom_id '${request.customId}' stands on a line before`);
    ids.add(request.customId);
    model ??= request.asked.body.model;
    if (request.asked.body.model !== model)
      throw atLine(number, `body.model must be '${model}', as on the lines before: a batch is of one model`);
    yield request;
  }
  if (ids.size === 0) throw invalidParam(READ_REQUESTS_FIELD, 'The file has no requests');
}

function readRequest(number: number, value: unknown, endpoint: BatchEndpoint): ReadRequest {
  const line = requestLine.safeParse(value);
  if (!line.success) throw atLine(number, describe(line.error));
  const { custom_id: customId, url, body } = line.data;
  if (url !== endpoint) throw atLine(number, `url must be ${endpoint}, the endpoint of the batch`);
  if (body.stream === true) throw atLine(number, 'body.stream must be left out: a batch has no streams');
  const unstorable = findUnstorable(line.data);
  if (unstorable) throw atLine(number, `${unstorable.join('.')} has characters that cannot be stored`);
  try {
    return { number, customId, body, asked: parseBody(endpoint, body) };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    throw atLine(number, describe(error, 'body'));
  }
}

function describe({ issues: [issue] }: z.ZodError, ...within: string[]): string {
  return sentenceOf([...within, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is not valid');
}

function atLine(number: number, sentence: string): AppError {
  return invalidParam(READ_REQUESTS_FIELD, `Line ${number}: ${sentence}`);
}
