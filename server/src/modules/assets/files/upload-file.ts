import { Readable } from 'node:stream';
import type { uploadFile as endpoint } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { FILE_SIZE_LIMIT_BYTES, FILE_SIZE_LIMIT_MESSAGE, formatBytes } from '@bakehouse/contract/limits';
import type { Multipart, MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { notForm } from '../../../platform/http/bodies/read-body.ts';
import { untilKeyEnds } from '../../../platform/http/callers/until-key-ends.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { findChangeableAsset } from '../access/find-changeable-asset.ts';
import { lockChangeableAsset } from '../access/lock-changeable-asset.ts';
import { addRevision } from '../add-revision.ts';
import { findNewestFile } from '../queries.ts';
import { toWireFile } from '../to-wire.ts';
import { checkWeights } from '../weights/check-weights.ts';
import { cleanFileName } from './clean-file-name.ts';
import { type Quota, quotaExceeded, readQuota, takeStorage } from './storage-quota.ts';

const PART = 'data_file';
/** What a multipart body has around the file. */
const ENVELOPE_BYTES = 64 * 1024;
/** A body of which nothing comes for so long is given up. */
const STALL_MS = 60_000;

type Upload = { assetId: string; request: FastifyRequest; stallMs?: number };

/**
 * Adds the file of a multipart request to an asset of the caller. The bytes go to the store as
 * they come; the file shows up in one transaction at the end, as a new revision, in place of a
 * file of the same name. The same bytes under the same name again change nothing. Throws
 * AppError('payload_too_large') for what is beyond the limit of a file, or the user's quota, and
 * 'unauthenticated' where the API key ends meanwhile.
 */
export async function uploadFile(ctx: Context, input: Upload): Promise<ResponseOf<typeof endpoint>> {
  const key = untilKeyEnds(ctx);
  try {
    return await takeUpload(ctx, { ...input, signal: key.signal });
  } catch (error) {
    // What broke off because the key ended says so.
    key.signal.throwIfAborted();
    throw error;
  } finally {
    key.stop();
  }
}

async function takeUpload(
  ctx: Context,
  input: Upload & { signal: AbortSignal },
): Promise<ResponseOf<typeof endpoint>> {
  const who = { assetId: input.assetId, userId: ctx.caller.userId };
  const { dataset_type: type } = await findChangeableAsset(ctx.db, who);
  const quota = await readQuota(ctx, who.userId);
  const { name, blob } = await receiveFile(ctx, { ...input, quota });
  // What lies in a dataset is data, and nothing loads it as weights.
  if (type === 'MODEL')
    await ctx.blobs.withLocalFile(blob.sha256, (localPath) =>
      checkWeights(ctx.sandbox, { localPath, name, userId: who.userId }),
    );

  input.signal.throwIfAborted();
  return inTransaction(ctx.db, async (tx) => {
    const asset = await lockChangeableAsset(tx, who);
    const present = await findNewestFile(tx, asset.id, name);
    if (present?.sha256 === blob.sha256 && asset.revision_id) {
      return { file: toWireFile(present), revision_id: asset.revision_id };
    }
    await takeStorage(tx, { userId: who.userId, quota, blob });
    const revisionId = await addRevision(tx, asset, { put: [{ path: name, ...blob }], remove: [] });
    await recordAudit(tx, {
      userId: who.userId,
      action: 'asset.file_uploaded',
      detail: { asset_id: asset.id, path: name, sha256: blob.sha256 },
    });
    const file = await findNewestFile(tx, asset.id, name);
    if (!file) throw new Error(`${name} is not in the revision that was made for it`);
    return { file: toWireFile(file), revision_id: revisionId };
  });
}

async function receiveFile(
  ctx: Context,
  {
    request,
    quota,
    signal,
    stallMs = STALL_MS,
  }: Omit<Upload, 'assetId'> & { quota: Quota; signal: AbortSignal },
): Promise<{ name: string; blob: Blob }> {
  // Ends the connection, so nobody is there to be answered.
  request.raw.setTimeout(stallMs, () => request.raw.destroy());
  try {
    refuseSize(request, quota);
    const { part, rest } = await receivePart(request);
    const name = cleanFileName(part.filename);
    const blob = await storeBlob(ctx, Readable.from(wholeFile(part.file, name, rest), { signal }), {
      ...sizeLimit(quota),
      expectedBytes: announcedBytes(request),
    });
    request.raw.setTimeout(0);
    return { name, blob };
  } catch (error) {
    // What is still on its way has to be read, or the connection would stand still for ever.
    request.raw.unpipe();
    request.raw.resume();
    throw error;
  }
}

/** Refuses what is too large by its own account, before any of it is read. */
function refuseSize(request: FastifyRequest, quota: Quota): void {
  const bytes = announcedBytes(request);
  if (bytes > FILE_SIZE_LIMIT_BYTES) {
    throw new AppError('payload_too_large', { publicMessage: FILE_SIZE_LIMIT_MESSAGE });
  }
  if (quota && bytes > quota.leftBytes) throw quotaExceeded(quota, formatBytes(bytes));
}

/** The least that the file of this request has by its headers; 0 where they do not say. */
function announcedBytes(request: FastifyRequest): number {
  return Math.max(0, Number(request.headers['content-length'] ?? 0) - ENVELOPE_BYTES);
}

/** The limit that holds while the bytes come, for all that is not known before. */
function sizeLimit(quota: Quota): { sizeBytesMax: number; tooLargeMessage: string } {
  return quota && quota.leftBytes < FILE_SIZE_LIMIT_BYTES
    ? {
        sizeBytesMax: quota.leftBytes,
        tooLargeMessage: quotaExceeded(quota, `more than ${formatBytes(quota.leftBytes)}`).publicMessage,
      }
    : { sizeBytesMax: FILE_SIZE_LIMIT_BYTES, tooLargeMessage: FILE_SIZE_LIMIT_MESSAGE };
}

/** The file, and the parts behind it, which are read only after the file. */
async function receivePart(
  request: FastifyRequest,
): Promise<{ part: MultipartFile; rest: AsyncIterableIterator<Multipart> }> {
  if (!request.isMultipart()) throw notForm(PART);
  const rest = request.parts();
  for (let next = await readPart(rest); !next.done; next = await readPart(rest)) {
    if (next.value.type === 'field') continue;
    if (next.value.fieldname === PART) return { part: next.value, rest };
    break;
  }
  throw badUpload(`Send the file in a part named ${PART}`);
}

/**
 * The bytes of the file. Its last ones pass only once the whole request is there, so that the
 * store keeps nothing of one that is cut.
 */
async function* wholeFile(
  bytes: AsyncIterable<Buffer>,
  name: string,
  rest: AsyncIterableIterator<Multipart>,
): AsyncGenerator<Buffer> {
  let isEmpty = true;
  for await (const chunk of bytes) {
    isEmpty &&= chunk.length === 0;
    yield chunk;
  }
  if (isEmpty) throw badUpload(`${name} is empty`);
  for (let next = await readPart(rest); !next.done; next = await readPart(rest)) {
    if (next.value.type === 'file') throw badUpload('Send one file per request');
  }
}

async function readPart(parts: AsyncIterableIterator<Multipart>): Promise<IteratorResult<Multipart>> {
  try {
    return await parts.next();
  } catch (cause) {
    const isSecondFile = cause instanceof Error && 'code' in cause && cause.code === 'FST_FILES_LIMIT';
    throw badUpload(isSecondFile ? 'Send one file per request' : 'The multipart body cannot be read', cause);
  }
}

function badUpload(publicMessage: string, cause?: unknown): AppError {
  return new AppError('invalid_request', { publicMessage, param: PART, cause });
}
