import { Readable } from 'node:stream';
import type {
  Batch,
  cancelBatch as cancelContract,
  listBatches as listContract,
} from '@bakehouse/contract/batches';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { fromFlatId, toFlatId } from '@bakehouse/contract/fields/flat-id';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context, Services } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { type AppError, invalidParam, notFoundError } from '../../platform/errors.ts';
import type { Blob } from '../../platform/storage/blob-store.ts';
import { storeBlob } from '../../platform/storage/store-blob.ts';
import { createFileDataset } from '../datasets/openai-files/files.ts';
import { cancelAnswers, findBulk, selectBulk } from './bulk-answers.ts';
import type { BatchRow, BulkChanges } from './bulk-table.ts';
import { deleteLines, selectAnswers, selectOpenRequests } from './queries.ts';

const PAGE = 100;
const END_BATCH_PAGE = 200;

/** Returns a batch of the caller by its internal id. Throws AppError 'not_found'. */
export async function getOwnBatch(ctx: Context, id: string): Promise<Batch> {
  const row = await findBulk(ctx.db, 'batch', { userId: ctx.caller.userId, id });
  if (!row) throw batchNotFound(id);
  return toBatch(row, ctx.clock.now());
}

/** Lists the caller's batches, newest first. Throws AppError 'invalid_request' for an unknown `after`. */
export async function listBatches(
  { db, caller: { userId }, clock }: Context,
  { query: { limit, after } }: InputOf<typeof listContract>,
): Promise<ResponseOf<typeof listContract>> {
  const cursor = after === undefined ? null : fromFlatId(after);
  if (cursor !== null && !(await findBulk(db, 'batch', { userId, id: cursor })))
    throw invalidParam('after', `after: there is no batch '${after}'`);
  const found = await selectBulk(db, 'batch', { userId, after: cursor, limit: limit + 1 });
  const data = found.slice(0, limit).map((row) => toBatch(row, clock.now()));
  return {
    ...{ object: 'list', data, has_more: found.length > limit },
    ...{ first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
  };
}

/** Yields all of the caller's batches, for the data export. */
export async function* listAllBatches({ db, caller: { userId }, clock }: Context): AsyncGenerator<Batch> {
  let after: string | null = null;
  do {
    const page: BatchRow[] = await selectBulk(db, 'batch', { userId, after, limit: PAGE });
    yield* page.map((row) => toBatch(row, clock.now()));
    after = page.length === PAGE ? (page.at(-1)?.id ?? null) : null;
  } while (after);
}

function batchNotFound(id: string): AppError {
  return notFoundError(`There is no batch '${toFlatId('batch_', id)}'`, { param: 'batch_id' });
}

function statusOf(row: BatchRow, now: Date): Batch['status'] {
  if (row.outcome) return row.outcome;
  if (row.cancelled_at) return 'cancelling';
  const isDone = row.completed + row.failed === row.total;
  return isDone || row.expires_at <= now ? 'finalizing' : 'in_progress';
}

/** Returns a batch in the format of OpenAI's clients. */
function toBatch(row: BatchRow, now: Date): Batch {
  const { outcome, ended_at: endedAt } = row;
  const endedAs = (one: typeof outcome) => (outcome === one ? toSeconds(endedAt) : null);
  const status = statusOf(row, now);
  const fileOf = (assetId: string | null) => assetId && toFlatId('file-', assetId);
  return {
    id: toFlatId('batch_', row.id),
    object: 'batch',
    endpoint: row.endpoint,
    model: row.model,
    errors: null,
    input_file_id: toFlatId('file-', row.input_asset_id),
    completion_window: '24h',
    status,
    output_file_id: fileOf(row.output_asset_id),
    error_file_id: fileOf(row.error_asset_id),
    created_at: Math.floor(row.created_at.getTime() / 1000),
    in_progress_at: toSeconds(row.begun_at),
    expires_at: Math.floor(row.expires_at.getTime() / 1000),
    finalizing_at: outcome === null ? null : toSeconds(endedAt),
    completed_at: endedAs('completed'),
    failed_at: null,
    expired_at: endedAs('expired'),
    cancelling_at: toSeconds(row.cancelled_at),
    cancelled_at: endedAs('cancelled'),
    request_counts: { total: row.total, completed: row.completed, failed: row.failed },
    metadata: row.metadata,
    held: formatBgl(endedAt === null ? row.held_micro : 0n),
    cost_so_far: formatBgl(row.cost_micro < row.held_micro ? row.cost_micro : row.held_micro),
  };
}

function toSeconds(instant: Date | null): number | null {
  return instant && Math.floor(instant.getTime() / 1000);
}

/** Writes the files of a batch that ends. Returns the step that adds them to the user's files. */
export async function prepareEnd(
  services: Services,
  batch: BatchRow,
  isExpired: boolean,
): Promise<(tx: Transaction) => Promise<BulkChanges>> {
  const { id, user_id: userId } = batch;
  const output = await storeLines(services, answersOf(services, { id, isError: false }));
  const errors = await storeLines(services, errorsOf(services, batch, isExpired));
  return async (tx) => {
    const keep = (blob: Blob | null, name: string) =>
      blob &&
      createFileDataset(tx, { userId, path: `${id}_${name}.jsonl`, blob, purpose: 'batch_output' }, null);
    await deleteLines(tx, id);
    return {
      output_asset_id: await keep(output, 'output'),
      error_asset_id: await keep(errors, 'error'),
    };
  };
}

type Lines = AsyncGenerator<object>;

async function* answersOf({ db }: Services, { id, isError }: { id: string; isError: boolean }): Lines {
  for (let after = 0; ; ) {
    const page = await selectAnswers(db, { id, isError, after, limit: END_BATCH_PAGE });
    yield* page.map(({ answer }) => answer);
    if (page.length < END_BATCH_PAGE) return;
    after = page.at(-1)?.number ?? after;
  }
}

/** Yields rejected requests, and requests that were unanswered when the batch expired. */
async function* errorsOf(services: Services, { id, total }: BatchRow, isExpired: boolean): Lines {
  yield* answersOf(services, { id, isError: true });
  if (!isExpired) return;
  const message = 'The request was not answered before the batch expired';
  for (const { customId, number } of await selectOpenRequests(services.db, id, total)) {
    yield {
      ...{ id: `batch_req_${id.replaceAll('-', '')}_${number}`, custom_id: customId, response: null },
      error: { code: 'batch_expired', message },
    };
  }
}

/** Returns null if there are no lines to write. */
async function storeLines(services: Services, lines: Lines): Promise<Blob | null> {
  const first = await lines.next();
  if (first.done) return null;
  const text = async function* () {
    yield `${JSON.stringify(first.value)}\n`;
    for await (const line of lines) yield `${JSON.stringify(line)}\n`;
  };
  return storeBlob(services, Readable.from(text(), { objectMode: false }));
}

/** Cancels a batch, which then ends with the answers it has. An ended or cancelled batch stays unchanged. */
export async function cancelBatch(ctx: Context, { params }: InputOf<typeof cancelContract>): Promise<Batch> {
  const id = fromFlatId(params.batch_id);
  await cancelAnswers(ctx.db, 'batch', { userId: ctx.caller.userId, id, now: ctx.clock.now() });
  return getOwnBatch(ctx, id);
}
