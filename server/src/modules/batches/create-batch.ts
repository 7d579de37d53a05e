import { randomUUID } from 'node:crypto';
import { BATCH_BYTES_MAX, type Batch, type createBatch as endpoint } from '@bakehouse/contract/batches';
import type { InputOf } from '@bakehouse/contract/endpoint';
import { formatBytes } from '@bakehouse/contract/labels';
import type { Context } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { AppError, refused } from '../../platform/errors.ts';
import { readBlob } from '../../platform/storage/read-blob.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { spendOnce } from '../credits/spend-once.ts';
import { findFile } from '../datasets/openai-files/find-file.ts';
import { readJsonLines } from '../datasets/openai-files/json-lines.ts';
import type { Upstream } from '../deployments/reach/upstream.ts';
import { agreePrices, withAgreedPrices } from './batch-prices.ts';
import { findUpstreamOf } from './find-upstream-of.ts';
import { highestRequestCostMicro } from './highest-cost.ts';
import { holdForAnswers, termsOf } from './hold-for-answers.ts';
import { countOpen, insertBatch, insertLines, lockBatchesOf, noteHold } from './queries.ts';
import { getOwnBatch } from './read-batches.ts';
import { readRequests } from './read-requests.ts';

const FIELD = 'input_file_id';
/** Per user, because each stores its requests in the database. */
const OPEN_MAX = 10;

type Body = InputOf<typeof endpoint>['body'];
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
  await refuseTooMany(ctx.db, ctx.caller.userId);
  const file = await findFile(ctx, id, FIELD);
  if (file.size_bytes > BigInt(BATCH_BYTES_MAX)) {
    const most = formatBytes(BATCH_BYTES_MAX);
    throw refused(FIELD, `A batch has at most ${most} of requests. Send them as several batches`);
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
  const { userId, key } = ctx.caller;
  const id = randomUUID();
  await lockBatchesOf(tx, userId);
  await refuseTooMany(tx, userId);
  await insertBatch(tx, {
    ...{ id, user_id: userId, key_id: key?.id ?? null, endpoint: body.endpoint, model, total, prices },
    ...{ input_asset_id: file.asset_id, metadata: body.metadata ?? null },
    ...termsOf(highestMicro, ctx.clock.now()),
  });
  // Read the file again instead of holding all requests in memory. Use the same connection, because waiting
  // for a second one could deadlock.
  const { blobs, clock, log } = ctx;
  await insertLines(tx, id, readJsonLines(await readBlob({ blobs, clock, log, db: tx }, file), FIELD));
  // Last, because the hold locks the user's account.
  const { hold_id: holdId } = await holdForAnswers(tx, ctx, {
    ...{ highestMicro, model, name: `batch:${id}` },
    description: `Batch of ${total} requests to ${model}`,
  });
  await noteHold(tx, id, holdId);
  return { id };
}

async function refuseTooMany(db: Database | Transaction, userId: string): Promise<void> {
  if ((await countOpen(db, userId)) < OPEN_MAX) return;
  throw new AppError('conflict', {
    publicMessage: `At most ${OPEN_MAX} batches can be under way. Wait for one to end, or cancel one`,
  });
}
