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

/** Concurrent uploads per user in all processes: each occupies a connection and its bytes. */
const UPLOADS_MAX = 16;

const uploads = openByKey();
const PART = 'data_file';
const PATH = 'path';

/** A file of the maximum size at half a megabit per second. */
const WHOLE_MS = 2.5 * 60 * 60_000;

/** The overhead of a multipart body. */
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
 * Adds the file of a multipart request to an asset of the caller. The bytes are streamed to the store; at the
 * end, the file appears in one transaction, in a new revision, and replaces a file with the same path. Its
 * path defaults to its name; the field `path` before the file overrides it. Identical bytes under the same
 * path change nothing. Throws AppError 'payload_too_large' beyond the file limit or the user's quota,
 * 'conflict' if the path is both a file and a folder, 'unauthenticated' if the API key ends in the meantime,
 * and 'rate_limited' if the user has too many running.
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

/** The incoming parts until the signal aborts; `announced` is the minimum size of the file. */
type Coming = { parts: Parts; signal: AbortSignal; announced: number };

async function receiveUpload(
  ctx: Context,
  { assetId, checkModelFile, ...coming }: Coming & Pick<Upload, 'assetId' | 'checkModelFile'>,
): Promise<ResponseOf<typeof uploadFileEndpoint>> {
  const who = { assetId, userId: ctx.caller.userId };
  const { dataset_type: type } = await findChangeableAsset(ctx.db, who);
  const quota = await readQuota(ctx, who.userId);
  const { path, param, blob } = await receiveFile(ctx, { ...coming, quota });
  // Files of a dataset are data, which nothing loads as weights.
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

/** `param`: the field of the path. */
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

/** Returns the limit that applies while the bytes are received. */
function sizeLimit(quota: Quota): { sizeBytesMax: number; tooLargeMessage: string } {
  if (!quota || quota.leftBytes >= FILE_SIZE_LIMIT_BYTES)
    return { sizeBytesMax: FILE_SIZE_LIMIT_BYTES, tooLargeMessage: FILE_SIZE_LIMIT_MESSAGE };
  const needed = `more than ${formatBytes(quota.leftBytes)}`;
  return {
    sizeBytesMax: quota.leftBytes,
    tooLargeMessage: quotaExceeded(quota, { needed, param: PART }).publicMessage,
  };
}

/** Returns the file, and the path before it. Later parts are only read after the file. */
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
 * Yields the bytes of the file. Holds the end of the file back until the request is complete, so that the
 * store discards a truncated one.
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
    // The path was already determined; the file must not appear where the user did not want it.
    if (next.value.fieldname === PATH) throw invalidParam(PATH, `Send ${PATH} before the file`);
  }
}

/** Acquires an upload slot of the caller; returns its release. Throws AppError 'rate_limited'. */
export function acquireUploadSlot({
  caller,
  webProcesses,
}: Pick<Context, 'caller' | 'webProcesses'>): () => void {
  const max = shareLimit(UPLOADS_MAX, webProcesses());
  const leave = uploads.enter(caller.userId, max);
  if (leave !== null) return leave;
  throw tooMany(`At most ${max} uploads per user can be in progress. Try again when one has ended`);
}
