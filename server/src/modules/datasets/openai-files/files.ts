import { Readable } from 'node:stream';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { fromFlatId, toFlatId } from '@bakehouse/contract/fields/flat-id';
import { FILE_SIZE_LIMIT_BYTES, FILE_SIZE_LIMIT_MESSAGE } from '@bakehouse/contract/limits';
import {
  type createFile as createFileEndpoint,
  createFileFields,
  type listFiles as listFilesEndpoint,
  type OpenAiFile,
} from '@bakehouse/contract/openai-files';
import type { Multipart } from '@fastify/multipart';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { invalidParam, notFoundError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { parseFields } from '../../../platform/http/bodies/parse-fields.ts';
import { receiveForm } from '../../../platform/http/bodies/receive-form.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { completeOnboardingStep } from '../../accounts/onboarding.ts';
import { readQuota } from '../../assets/files/storage-quota.ts';
import { addFile } from '../../assets/files/upload/add-file.ts';
import { cleanFileName } from '../../assets/files/upload/clean-path.ts';
import { acquireUploadSlot } from '../../assets/files/upload/upload-file.ts';
import { insertAsset } from '../../assets/insert-asset.ts';
import { type FilePurpose, type FileRow, insertPurpose, selectFiles } from './file-queries.ts';
import { LINE_BYTES_MAX, readJsonLines } from './json-lines.ts';

const PART = 'file';

/** Maximum bytes without a complete line: the longest line, plus as much again for empty lines. */
const UNREAD_BYTES_MAX = 2 * LINE_BYTES_MAX;

/** Maximum duration of an upload: the largest file at half a megabit per second. */
const WHOLE_MS = 2.5 * 60 * 60_000;

/**
 * Creates a private dataset from the uploaded file. Validates the file as JSON Lines while it streams to the
 * store. Throws AppError 'invalid_request' with the number of the first invalid line, 'payload_too_large',
 * and the errors of `acquireUploadSlot`. If it throws, nothing is stored.
 */
export async function createFile(
  ctx: Context,
  { request }: Pick<Http, 'request'>,
): Promise<ResponseOf<typeof createFileEndpoint>> {
  const leave = acquireUploadSlot(ctx);
  try {
    const form = { part: PART, limits: { files: 2 }, wholeMs: WHOLE_MS };
    return await receiveForm(ctx, request, form, async (parts, signal) => {
      const quota = await readQuota(ctx, ctx.caller.userId);
      const { path, blob, fields } = await receive(ctx, parts);
      const { purpose } = parseFields(createFileFields, fields);
      signal.throwIfAborted();
      const { userId } = ctx.caller;
      const assetId = await inTransaction(ctx.db, async (tx) => {
        await completeOnboardingStep(tx, userId, 'create_dataset');
        return createFileDataset(tx, { userId, path, blob, purpose }, quota);
      });
      return toOpenAiFile(await findFile(ctx, toFlatId('file-', assetId), PART));
    });
  } finally {
    leave();
  }
}

type Received = { path: string; blob: Blob; fields: Record<string, string> };

/** Reads the file and all fields, which clients may send before or after it. */
async function receive(ctx: Context, parts: AsyncIterable<Multipart>): Promise<Received> {
  const fields: Record<string, string> = {};
  let file: Omit<Received, 'fields'> | null = null;
  for await (const part of parts) {
    if (part.type === 'field') {
      if (part.fieldname.startsWith('expires_after'))
        throw invalidParam(
          'expires_after',
          'expires_after must be left out: files stay until they are deleted',
        );
      fields[part.fieldname] = String(part.value);
      continue;
    }
    if (part.fieldname !== PART || file) throw invalidParam(PART, `Send one file, in a part named ${PART}`);
    const name = cleanFileName(part.filename, PART);
    // Clients that upload bytes instead of a file send the file name `upload`, without an extension.
    const path = name.includes('.') ? name : `${name}.jsonl`;
    if (!/\.jsonl$/i.test(path)) {
      throw invalidParam(
        PART,
        `${path} must be a .jsonl file. Datasets of other formats are uploaded with POST /api/v1/asset/{id}/upload`,
      );
    }
    const options = { sizeBytesMax: FILE_SIZE_LIMIT_BYTES, tooLargeMessage: FILE_SIZE_LIMIT_MESSAGE };
    file = { path, blob: await storeBlob(ctx, Readable.from(checked(part.file, path)), options) };
  }
  if (!file) throw invalidParam(PART, `Send the file in a part named ${PART}`);
  return { ...file, fields };
}

/** Yields each chunk after the lines in it were validated. */
async function* checked(bytes: AsyncIterable<Buffer>, path: string): AsyncGenerator<Buffer> {
  const passed: Buffer[] = [];
  let unread = 0;
  const noted = async function* () {
    for await (const chunk of bytes) {
      passed.push(chunk);
      unread += chunk.length;
      if (unread > UNREAD_BYTES_MAX) throw invalidParam(PART, `${path} has too many empty lines`);
      yield chunk;
    }
  };
  let lines = 0;
  for await (const { number } of readJsonLines(noted(), PART)) {
    lines = number;
    unread = 0;
    yield* passed.splice(0);
  }
  if (lines === 0) throw invalidParam(PART, `${path} is empty`);
  yield* passed;
}

type NewFile = { userId: string; path: string; blob: Blob; purpose: FilePurpose };

/**
 * Creates a private dataset that contains this one file, and returns its id. If `quota` is null, the quota is
 * not checked; used for files that the user has already paid for. Throws the errors of `addFile`.
 */
export async function createFileDataset(
  tx: Transaction,
  { userId, path, blob, purpose }: NewFile,
  quota: Awaited<ReturnType<typeof readQuota>>,
): Promise<string> {
  const assetId = await insertAsset(tx, {
    ownerUserId: userId,
    datasetType: 'RAW',
    title: path,
    category: '',
    details: '',
    tags: [],
  });
  const params = { path: 'file', bytes: 'file' };
  await addFile(tx, { assetId, userId, path, blob, quota, family: null, params });
  if (purpose !== 'fine-tune') await insertPurpose(tx, assetId, purpose);
  return assetId;
}

/** Returns a file of the caller by its id. Throws AppError 'not_found' with the field `param`. */
export async function findFile(
  { db, caller }: Pick<Context, 'db' | 'caller'>,
  id: string,
  param: string,
): Promise<FileRow> {
  const [file] = await selectFiles(db, { userId: caller.userId, assetId: fromFlatId(id), limit: 1 });
  if (file) return file;
  throw notFoundError(
    `There is no file '${id}'. A file is a dataset of yours with one file: GET /v1/files lists them`,
    { param },
  );
}

/** Returns the file in OpenAI's format. */
export function toOpenAiFile({ asset_id, path, size_bytes, created_at, purpose }: FileRow): OpenAiFile {
  return {
    id: toFlatId('file-', asset_id),
    object: 'file',
    bytes: Number(size_bytes),
    created_at: Math.floor(created_at.getTime() / 1000),
    expires_at: null,
    filename: path,
    purpose,
    status: 'processed',
  };
}

/**
 * Returns the caller's files, newest first by default. Throws AppError 'not_found' for an unknown `after`.
 */
export async function listFiles(
  ctx: Context,
  { query: { after, limit, ...query } }: InputOf<typeof listFilesEndpoint>,
): Promise<ResponseOf<typeof listFilesEndpoint>> {
  const { userId } = ctx.caller;
  if (after !== undefined) await findFile(ctx, after, 'after');
  const cursor = after && fromFlatId(after);
  const found = await selectFiles(ctx.db, { userId, ...query, after: cursor, limit: limit + 1 });
  const data = found.slice(0, limit).map(toOpenAiFile);
  return {
    ...{ object: 'list', data, has_more: found.length > limit },
    ...{ first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
  };
}
