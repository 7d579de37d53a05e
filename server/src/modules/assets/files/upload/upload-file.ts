import { Readable } from 'node:stream';
import type { uploadFile as uploadFileEndpoint } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBytes } from '@bakehouse/contract/labels';
import { FILE_SIZE_LIMIT_BYTES, FILE_SIZE_LIMIT_MESSAGE } from '@bakehouse/contract/limits';
import type { Multipart, MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { openByKey } from '../../../../platform/concurrency/open-by-key.ts';
import { shareLimit } from '../../../../platform/concurrency/share-limit.ts';
import type { Context } from '../../../../platform/context.ts';
import { inTransaction } from '../../../../platform/db/in-transaction.ts';
import { invalidParam, payloadTooLarge, tooMany } from '../../../../platform/errors.ts';
import { receiveForm } from '../../../../platform/http/bodies/receive-form.ts';
import type { Sandbox } from '../../../../platform/sandbox/sandbox.ts';
import type { Blob } from '../../../../platform/storage/blob-store.ts';
import { storeBlob } from '../../../../platform/storage/store-blob.ts';
import { findChangeableAsset } from '../../access/changeable.ts';
import { parseUploadedCard } from '../../card/card-data.ts';
import { readFamilyOf } from '../../recognise/family.ts';
import { type Quota, quotaExceeded, readQuota } from '../storage-quota.ts';
import { addFile } from './add-file.ts';
import { cleanFileName, cleanFilePath } from './clean-path.ts';

/**
 * Maximum concurrent uploads per user, across all processes. Each upload occupies a connection and buffers.
 */
const UPLOADS_MAX = 16;

const uploads = openByKey();
const PART = 'data_file';
const PATH = 'path';

/** Enough for a file of the maximum size at half a megabit per second. */
const WHOLE_MS = 2.5 * 60 * 60_000;

/** Allowance for the multipart headers around the file. */
const ENVELOPE_BYTES = 64 * 1024;

/** Throws AppError 'invalid_request' for a file that must not be loaded as part of a model. */
export type CheckModelFile = (
  sandbox: Sandbox,
  file: { localPath: string; name: string; userId: string },
) => Promise<void>;

type Upload = {
  assetId: string;
  request: FastifyRequest;
  checkModelFile: CheckModelFile;
  stallMs?: number;
};

type Parts = AsyncIterator<Multipart>;

/**
 * Adds the file of a multipart request to an asset of the caller. Streams the bytes to the store, and then
 * adds the file in a new revision, in one transaction. It replaces a file with the same path; identical bytes
 * change nothing. The path is the file name, unless a field `path` precedes the file. Throws AppError
 * 'payload_too_large' above the file limit or the user's quota, 'conflict' if the path would be both a file
 * and a folder, 'unauthenticated' if the API key ends during the upload, and 'rate_limited' if the user has
 * too many uploads running.
 */
export async function uploadFile(
  ctx: Context,
  { assetId, request, checkModelFile, stallMs }: Upload,
): Promise<ResponseOf<typeof uploadFileEndpoint>> {
  // Accept one more file than allowed, to report it by name.
  const form = { part: PART, limits: { files: 2 }, stallMs, wholeMs: WHOLE_MS };
  const leave = acquireUploadSlot(ctx);
  try {
    return await receiveForm(ctx, request, form, (parts, signal) =>
      receiveUpload(ctx, { assetId, checkModelFile, parts, signal, announced: announcedBytes(request) }),
    );
  } finally {
    leave();
  }
}

/**
 * The parts of a running request, until `signal` aborts it. `announced` is the file's minimum size according
 * to the headers.
 */
type Coming = { parts: Parts; signal: AbortSignal; announced: number };

async function receiveUpload(
  ctx: Context,
  { assetId, checkModelFile, ...coming }: Coming & Pick<Upload, 'assetId' | 'checkModelFile'>,
): Promise<ResponseOf<typeof uploadFileEndpoint>> {
  const who = { assetId, userId: ctx.caller.userId };
  const { dataset_type: type } = await findChangeableAsset(ctx.db, who);
  const quota = await readQuota(ctx, who.userId);
  const { path, param, blob } = await receiveFile(ctx, { ...coming, quota });
  // Check only models: no workload loads a dataset's files as weights.
  if (type === 'MODEL')
    await ctx.blobs.withLocalFile(blob.sha256, (localPath) =>
      checkModelFile(ctx.sandbox, { localPath, name: path, userId: who.userId }),
    );

  const family = type === 'MODEL' ? await readFamilyOf(ctx, { path, blob }) : null;
  await parseUploadedCard(ctx, { path, blob, userId: who.userId });
  coming.signal.throwIfAborted();
  return inTransaction(ctx.db, (tx) =>
    addFile(tx, { ...who, path, blob, quota, family, params: { path: param, bytes: PART } }),
  );
}

/** `param` is the request field that determined the path. */
type Received = { path: string; param: string; blob: Blob };

async function receiveFile(
  ctx: Context,
  { parts, announced, quota }: Omit<Coming, 'signal'> & { quota: Quota },
): Promise<Received> {
  assertAnnouncedSize(announced, quota);
  const { part, sentPath } = await receivePart(parts);
  const path = sentPath === undefined ? cleanFileName(part.filename) : cleanFilePath(sentPath);
  const blob = await storeBlob(ctx, Readable.from(wholeFile(part.file, path, parts)), {
    ...sizeLimit(quota),
    expectedBytes: announced,
  });
  return { path, param: sentPath === undefined ? PART : PATH, blob };
}

/** Rejects a file by its announced size, before reading it. */
function assertAnnouncedSize(bytes: number, quota: Quota): void {
  if (bytes > FILE_SIZE_LIMIT_BYTES) {
    throw payloadTooLarge(FILE_SIZE_LIMIT_MESSAGE);
  }
  if (quota && bytes > quota.leftBytes)
    throw quotaExceeded(quota, { needed: formatBytes(bytes), param: PART });
}

/** Returns the minimum size of the request's file according to its headers; 0 if unknown. */
function announcedBytes(request: FastifyRequest): number {
  return Math.max(0, Number(request.headers['content-length'] ?? 0) - ENVELOPE_BYTES);
}

/** Returns the maximum file size while receiving, and the message for larger files. */
function sizeLimit(quota: Quota): { sizeBytesMax: number; tooLargeMessage: string } {
  if (!quota || quota.leftBytes >= FILE_SIZE_LIMIT_BYTES)
    return { sizeBytesMax: FILE_SIZE_LIMIT_BYTES, tooLargeMessage: FILE_SIZE_LIMIT_MESSAGE };
  const needed = `more than ${formatBytes(quota.leftBytes)}`;
  return {
    sizeBytesMax: quota.leftBytes,
    tooLargeMessage: quotaExceeded(quota, { needed, param: PART }).publicMessage,
  };
}

/** Returns the file, and the path field if it precedes the file. Later parts are read after the file. */
async function receivePart(parts: Parts): Promise<{ part: MultipartFile; sentPath: string | undefined }> {
  let sentPath: string | undefined;
  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    const { value } = next;
    if (value.type === 'field') {
      if (value.fieldname === PATH) sentPath = String(value.value);
      continue;
    }
    if (value.fieldname === PART) return { part: value, sentPath };
    break;
  }
  throw invalidParam(PART, `Send the file in a part named ${PART}`);
}

/**
 * Yields the bytes of the file. Delays the end of the stream until the whole request has arrived, so that the
 * store discards the file if the request is truncated.
 */
async function* wholeFile(bytes: AsyncIterable<Buffer>, path: string, rest: Parts): AsyncGenerator<Buffer> {
  let isEmpty = true;
  for await (const chunk of bytes) {
    isEmpty &&= chunk.length === 0;
    yield chunk;
  }
  if (isEmpty) throw invalidParam(PART, `${path} is empty`);
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    if (next.value.type === 'file') throw invalidParam(PART, 'Send one file per request');
    // The file's path is fixed by now. Reject a late path field instead of storing the file under another
    // path.
    if (next.value.fieldname === PATH) throw invalidParam(PATH, `Send ${PATH} before the file`);
  }
}

/**
 * Acquires an upload slot of the caller, and returns the function that releases it. Throws AppError
 * 'rate_limited'.
 */
export function acquireUploadSlot({
  caller,
  webProcesses,
}: Pick<Context, 'caller' | 'webProcesses'>): () => void {
  const max = shareLimit(UPLOADS_MAX, webProcesses());
  const leave = uploads.enter(caller.userId, max);
  if (leave !== null) return leave;
  throw tooMany(`At most ${max} uploads per user can be in progress. Try again when one has ended`);
}
