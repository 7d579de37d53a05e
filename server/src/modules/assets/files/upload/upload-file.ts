import { Readable } from 'node:stream';
import type { uploadFile as endpoint } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBytes } from '@bakehouse/contract/labels';
import { FILE_SIZE_LIMIT_BYTES, FILE_SIZE_LIMIT_MESSAGE } from '@bakehouse/contract/limits';
import type { Multipart, MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../../../platform/context.ts';
import { inTransaction } from '../../../../platform/db/in-transaction.ts';
import { AppError, refused } from '../../../../platform/errors.ts';
import { receiveForm } from '../../../../platform/http/bodies/receive-form.ts';
import type { Sandbox } from '../../../../platform/sandbox/sandbox.ts';
import type { Blob } from '../../../../platform/storage/blob-store.ts';
import { storeBlob } from '../../../../platform/storage/store-blob.ts';
import { findChangeableAsset } from '../../access/find-changeable-asset.ts';
import { noteCard } from '../../card/card-data.ts';
import { readFamilyOf } from '../../recognise/note-family.ts';
import { type Quota, quotaExceeded, readQuota } from '../storage-quota.ts';
import { addFile } from './add-file.ts';
import { cleanFileName } from './clean-file-name.ts';
import { cleanFilePath } from './clean-file-path.ts';
import { enterUpload } from './upload-slots.ts';

const PART = 'data_file';
/** The field with the path of the file. */
const PATH = 'path';
/** A file of the largest size at half a megabit a second. */
const WHOLE_MS = 2.5 * 60 * 60_000;
/** What a multipart body has around the file. */
const ENVELOPE_BYTES = 64 * 1024;

/** Throws AppError('invalid_request') for a file that must not be loaded as part of a model. */
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
 * Adds the file of a multipart request to an asset of the caller. The bytes go to the store as
 * they come; the file shows up in one transaction at the end, as a new revision, in place of a
 * file of the same path, which is its name where the field `path` before it does not say more. The same bytes under the same
 * path again change nothing. Throws AppError('payload_too_large') for what is beyond the limit of a file, or the user's quota,
 * 'conflict' for what is a file and a folder, and 'unauthenticated' where the API key ends meanwhile, and 'rate_limited' where
 * the user has too many under way.
 */
export async function uploadFile(
  ctx: Context,
  { assetId, request, checkModelFile, stallMs }: Upload,
): Promise<ResponseOf<typeof endpoint>> {
  // One file more than there may be, so that it can be named.
  const form = { part: PART, limits: { files: 2 }, stallMs, wholeMs: WHOLE_MS };
  const leave = enterUpload(ctx);
  try {
    return await receiveForm(ctx, request, form, (parts, signal) =>
      takeUpload(ctx, { assetId, checkModelFile, parts, signal, announced: announcedBytes(request) }),
    );
  } finally {
    leave();
  }
}

/** What comes, until the signal; `announced` is the least that its file has. */
type Coming = { parts: Parts; signal: AbortSignal; announced: number };

async function takeUpload(
  ctx: Context,
  { assetId, checkModelFile, ...coming }: Coming & Pick<Upload, 'assetId' | 'checkModelFile'>,
): Promise<ResponseOf<typeof endpoint>> {
  const who = { assetId, userId: ctx.caller.userId };
  const { dataset_type: type } = await findChangeableAsset(ctx.db, who);
  const quota = await readQuota(ctx, who.userId);
  const { path, param, blob } = await receiveFile(ctx, { ...coming, quota });
  // What lies in a dataset is data, and nothing loads it as weights.
  if (type === 'MODEL')
    await ctx.blobs.withLocalFile(blob.sha256, (localPath) =>
      checkModelFile(ctx.sandbox, { localPath, name: path, userId: who.userId }),
    );

  const family = type === 'MODEL' ? await readFamilyOf(ctx, { path, blob }) : null;
  await noteCard(ctx, { path, blob, userId: who.userId });
  coming.signal.throwIfAborted();
  return inTransaction(ctx.db, (tx) =>
    addFile(tx, { ...who, path, blob, quota, family, params: { path: param, bytes: PART } }),
  );
}

/** `param`: the field that the path came in. */
type Received = { path: string; param: string; blob: Blob };

async function receiveFile(
  ctx: Context,
  { parts, announced, quota }: Omit<Coming, 'signal'> & { quota: Quota },
): Promise<Received> {
  refuseSize(announced, quota);
  const { part, sentPath } = await receivePart(parts);
  const path = sentPath === undefined ? cleanFileName(part.filename) : cleanFilePath(sentPath);
  const blob = await storeBlob(ctx, Readable.from(wholeFile(part.file, path, parts)), {
    ...sizeLimit(quota),
    expectedBytes: announced,
  });
  return { path, param: sentPath === undefined ? PART : PATH, blob };
}

/** Refuses what is too large by its own account, before any of it is read. */
function refuseSize(bytes: number, quota: Quota): void {
  if (bytes > FILE_SIZE_LIMIT_BYTES) {
    throw new AppError('payload_too_large', { publicMessage: FILE_SIZE_LIMIT_MESSAGE });
  }
  if (quota && bytes > quota.leftBytes)
    throw quotaExceeded(quota, { needed: formatBytes(bytes), param: PART });
}

/** The least that the file of this request has by its headers; 0 where they do not say. */
function announcedBytes(request: FastifyRequest): number {
  return Math.max(0, Number(request.headers['content-length'] ?? 0) - ENVELOPE_BYTES);
}

/** The limit that holds while the bytes come, for all that is not known before. */
function sizeLimit(quota: Quota): { sizeBytesMax: number; tooLargeMessage: string } {
  if (!quota || quota.leftBytes >= FILE_SIZE_LIMIT_BYTES)
    return { sizeBytesMax: FILE_SIZE_LIMIT_BYTES, tooLargeMessage: FILE_SIZE_LIMIT_MESSAGE };
  const needed = `more than ${formatBytes(quota.leftBytes)}`;
  return {
    sizeBytesMax: quota.leftBytes,
    tooLargeMessage: quotaExceeded(quota, { needed, param: PART }).publicMessage,
  };
}

/** The file, and the path that came before it; the parts behind it are read only after it. */
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
  throw badUpload(`Send the file in a part named ${PART}`);
}

/**
 * The bytes of the file. Its last ones pass only once the whole request is there, so that the
 * store keeps nothing of one that is cut.
 */
async function* wholeFile(bytes: AsyncIterable<Buffer>, path: string, rest: Parts): AsyncGenerator<Buffer> {
  let isEmpty = true;
  for await (const chunk of bytes) {
    isEmpty &&= chunk.length === 0;
    yield chunk;
  }
  if (isEmpty) throw badUpload(`${path} is empty`);
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    if (next.value.type === 'file') throw badUpload('Send one file per request');
    // Its name was looked at long ago: nobody should find the file where they did not want it.
    if (next.value.fieldname === PATH) throw refused(PATH, `Send ${PATH} before the file`);
  }
}

function badUpload(publicMessage: string): AppError {
  return new AppError('invalid_request', { publicMessage, param: PART });
}
