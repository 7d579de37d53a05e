import type {
  AssetUpload,
  abandonUpload as abandonUploadEndpoint,
  completeUpload as completeUploadEndpoint,
  createUpload as createUploadEndpoint,
  getUpload as getEndpoint,
  getUploadLimits as getUploadLimitsEndpoint,
  listUploads as listEndpoint,
  putUploadPart as putUploadPartEndpoint,
} from '@bakehouse/contract/asset-uploads';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBytes } from '@bakehouse/contract/labels';
import type { Context, Services } from '../../../../../platform/context.ts';
import type { Database, Transaction } from '../../../../../platform/db/database.ts';
import { inTransaction } from '../../../../../platform/db/in-transaction.ts';
import { AppError, notFoundError, payloadTooLarge } from '../../../../../platform/errors.ts';
import { Answer } from '../../../../../platform/http/answer.ts';
import type { Http } from '../../../../../platform/http/bind.ts';
import { receiveBytes } from '../../../../../platform/http/bodies/read-body.ts';
import { completeUpload as makeBlob } from '../../../../../platform/storage/uploads/complete-upload.ts';
import { selectParts, selectUpload } from '../../../../../platform/storage/uploads/queries.ts';
import { receivePart } from '../../../../../platform/storage/uploads/receive-part.ts';
import { countParts, type Upload } from '../../../../../platform/storage/uploads/upload.ts';
import {
  endUpload,
  noUpload,
  openUpload,
  releaseUpload,
  requireUpload,
} from '../../../../../platform/storage/uploads/uploads.ts';
import { findChangeableAsset, lockChangeableAsset } from '../../../access/changeable.ts';
import { parseUploadedCard } from '../../../card/card-data.ts';
import { type AssetRow, findNewestFile } from '../../../queries.ts';
import { readFamilyOf } from '../../../recognise/family.ts';
import { toWireFile } from '../../../to-wire.ts';
import { assertUploadFitsQuota, readQuota } from '../../storage-quota.ts';
import { addFile, assertNoPathConflict } from '../add-file.ts';
import { cleanFilePath } from '../clean-path.ts';
import { acquireUploadSlot, type CheckModelFile } from '../upload-file.ts';
import {
  type AssetUploadRow,
  deleteAssetUpload,
  insertAssetUpload,
  selectAssetUpload,
  selectPending,
  selectUnfinished,
  selectUnfinishedOf,
  setUploadRevision,
} from './queries.ts';

/** Shorter than the usual timeout of proxies. */
const ANSWER_MS = 20_000;

const PENDING: Completed = { file: null, revision_id: null };

/**
 * Uploads that this process is completing, by id. A repeated call waits for the completion that already runs.
 */
const completing = new Map<string, Promise<Completed>>();

/**
 * Starts an upload in parts to an asset of the caller, or returns the unfinished upload with the same path,
 * size and hash. Ends an unfinished upload of another file with the same path. Throws AppError
 * 'payload_too_large' beyond the file limit or the user's quota, 'conflict' if the path is both a file and a
 * folder, and the errors of `openUpload`.
 */
export async function createUpload(
  ctx: Context,
  { params, body }: InputOf<typeof createUploadEndpoint>,
): Promise<ResponseOf<typeof createUploadEndpoint>> {
  const who = { assetId: params.id, userId: ctx.caller.userId };
  await findChangeableAsset(ctx.db, who);
  const file = {
    path: cleanFilePath(body.path),
    sizeBytes: body.size_bytes,
    sha256: body.sha256 ?? null,
  };
  assertFileSize(ctx.config, { sizeBytes: file.sizeBytes, param: 'size_bytes' });
  const present = await findSame(ctx, { ...who, ...file });
  if (present) return toWireUpload(ctx.db, present, file.path);

  const upload = await openUpload(ctx, { userId: who.userId, ...file }, async (tx, open) => {
    await lockChangeableAsset(tx, who);
    await assertNoPathConflict(tx, { assetId: who.assetId, path: file.path, param: 'path' });
    const before = await selectUnfinished(tx, { assetId: who.assetId, path: file.path });
    if (before) {
      await releaseUpload(tx, { uploadId: before.id, userId: who.userId });
      await deleteAssetUpload(tx, before.id);
    }
    const opened = await open();
    await assertUploadFitsQuota(tx, ctx.config, { upload: opened, param: 'size_bytes' });
    await insertAssetUpload(tx, { id: opened.id, assetId: who.assetId, path: file.path });
    return opened;
  });
  return toWireUpload(ctx.db, upload, file.path);
}

type File = { assetId: string; userId: string; path: string; sizeBytes: number; sha256: string | null };

async function findSame(
  { db }: Context,
  { userId, sizeBytes, sha256, ...file }: File,
): Promise<Upload | null> {
  const row = await selectUnfinished(db, file);
  const upload = row ? await selectUpload(db, { uploadId: row.id, userId }) : null;
  return upload?.sizeBytes === sizeBytes && upload.announcedSha256 === sha256 ? upload : null;
}

type UploadParams = { id: string; uploadId: string };

/** Returns an upload with its asset, for changes. Throws AppError 'not_found' and 'forbidden'. */
async function findUpload(
  { db, caller }: Context,
  { id, uploadId }: UploadParams,
): Promise<{ asset: AssetRow; row: AssetUploadRow }> {
  const asset = await findChangeableAsset(db, { assetId: id, userId: caller.userId });
  const row = await selectAssetUpload(db, { assetId: id, uploadId });
  if (!row) throw noUpload();
  return { asset, row };
}

/** Returns the maximum size of a file uploaded in parts. */
function fileBytesMax({ fileGb }: Services['config']): number {
  return Math.floor(fileGb * 1024 ** 3);
}

export async function getUploadLimits({
  config,
}: Context): Promise<ResponseOf<typeof getUploadLimitsEndpoint>> {
  return { file_bytes_max: fileBytesMax(config) };
}

/** Throws AppError 'payload_too_large' with the field `param` for a file above the operator's limit. */
export function assertFileSize(
  config: Services['config'],
  { sizeBytes, param }: { sizeBytes: number; param: string },
): void {
  const limitBytes = fileBytesMax(config);
  if (sizeBytes <= limitBytes) return;
  throw payloadTooLarge(
    `A file may have at most ${formatBytes(limitBytes)} here, and this one has ${formatBytes(sizeBytes)}`,
    { param },
  );
}

export async function getUpload(
  ctx: Context,
  { params }: InputOf<typeof getEndpoint>,
): Promise<ResponseOf<typeof getEndpoint>> {
  const { row } = await findUpload(ctx, params);
  const upload = await requireUpload(ctx.db, { uploadId: row.id, userId: ctx.caller.userId });
  return toWireUpload(ctx.db, upload, row.path);
}

/** Lists the unfinished uploads to an asset of the caller, oldest first. */
export async function listUploads(
  ctx: Context,
  { params }: InputOf<typeof listEndpoint>,
): Promise<ResponseOf<typeof listEndpoint>> {
  await findChangeableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  const rows = await selectUnfinishedOf(ctx.db, params.id);
  return {
    uploads: rows.map(({ id, created_at, ...row }) => ({
      ...row,
      upload_id: id,
      part_count: countParts({ sizeBytes: row.size_bytes, partBytes: row.part_bytes }),
      created_at: created_at.toISOString(),
    })),
  };
}

/** Step: returns the ids of a user's uploads whose bytes are about to become a file of an asset. */
export async function listPendingUploads(
  tx: Transaction,
  bytes: { userId: string; sha256s: string[] },
): Promise<string[]> {
  return selectPending(tx, bytes);
}

type Completed = ResponseOf<typeof completeUploadEndpoint>;

/**
 * Completes an upload of the caller: its file appears in a new revision. A repeated call returns the same
 * result. If reading a large file takes longer than `answerMs`, returns 202 and continues in the background.
 * Throws the errors of the platform's `completeUpload` and of `addFile`. If the file must not be loaded as
 * part of a model, ends the upload and throws AppError 'invalid_request'.
 */
export async function completeUpload(
  ctx: Context,
  { params }: InputOf<typeof completeUploadEndpoint>,
  { checkModelFile, answerMs = ANSWER_MS }: { checkModelFile: CheckModelFile; answerMs?: number },
): Promise<Completed | Answer<Completed>> {
  const { row } = await findUpload(ctx, params);
  if (row.revision_id !== null) return answerAgain(ctx, params.id, row.path, row.revision_id);
  const work = completing.get(row.id) ?? complete(ctx, params, checkModelFile);
  if (!completing.has(row.id)) {
    completing.set(row.id, work);
    const removeEntry = () => completing.delete(row.id);
    work.then(removeEntry, removeEntry);
  }
  const pause = Promise.withResolvers<null>();
  const timer = setTimeout(() => pause.resolve(null), answerMs);
  const answer = await Promise.race([work, pause.promise]).finally(() => clearTimeout(timer));
  return answer ?? new Answer(PENDING, { status: 202 });
}

async function complete(
  ctx: Context,
  params: UploadParams,
  checkModelFile: CheckModelFile,
): Promise<Completed> {
  const { asset, row } = await findUpload(ctx, params);
  const { userId } = ctx.caller;
  const who = { uploadId: row.id, userId };
  const blob = await makeBlob(ctx, who);
  if (asset.dataset_type === 'MODEL') {
    await ctx.blobs
      .withLocalFile(blob.sha256, (localPath) =>
        checkModelFile(ctx.sandbox, { localPath, name: row.path, userId }),
      )
      .catch(async (error: unknown) => {
        // End the upload, because its bytes will never become valid.
        if (error instanceof AppError && error.code === 'invalid_request') await endUpload(ctx, who);
        throw error;
      });
  }
  const family = asset.dataset_type === 'MODEL' ? await readFamilyOf(ctx, { path: row.path, blob }) : null;
  await parseUploadedCard(ctx, { path: row.path, blob, userId });
  const quota = await readQuota(ctx, userId);
  return inTransaction(ctx.db, async (tx) => {
    const added = await addFile(tx, {
      ...{ assetId: asset.id, userId, path: row.path, blob, quota, family },
      params: { path: 'path', bytes: 'size_bytes' },
    });
    await setUploadRevision(tx, row.id, added.revision_id);
    await releaseUpload(tx, who);
    return added;
  });
}

async function answerAgain(
  { db }: Context,
  assetId: string,
  path: string,
  revisionId: string,
): Promise<Completed> {
  const file = await findNewestFile(db, assetId, path);
  if (file) return { file: toWireFile(file), revision_id: revisionId };
  // The file was deleted since.
  throw notFoundError(`${path} was deleted after its upload`);
}

/**
 * Receives one part of an upload of the caller. Throws the errors of `receivePart`, AppError
 * 'unauthenticated' if the API key ends in the meantime, and 'rate_limited' if the user has too many running.
 */
export async function putPart(
  ctx: Context,
  { params, query }: InputOf<typeof putUploadPartEndpoint>,
  { request }: Pick<Http, 'request'>,
): Promise<ResponseOf<typeof putUploadPartEndpoint>> {
  const leave = acquireUploadSlot(ctx);
  try {
    await findUpload(ctx, params);
    return await receiveBytes(ctx, request, async (bytes) => {
      const { uploadId, number } = params;
      const part = await receivePart(ctx, {
        uploadId,
        userId: ctx.caller.userId,
        number,
        sha256: query.sha256,
        bytes,
      });
      return { number: part.number, sha256: part.sha256, size_bytes: part.sizeBytes };
    });
  } finally {
    leave();
  }
}

/** Returns an upload with its received parts. */
async function toWireUpload(db: Database, upload: Upload, path: string): Promise<AssetUpload> {
  const parts = await selectParts(db, upload.id);
  const received = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return {
    upload_id: upload.id,
    path,
    size_bytes: upload.sizeBytes,
    part_bytes: upload.partBytes,
    part_count: countParts(upload),
    is_whole: upload.blob !== null,
    received_bytes: upload.blob ? upload.sizeBytes : received,
    created_at: upload.createdAt.toISOString(),
    parts: parts.map(({ number, sha256, sizeBytes }) => ({ number, sha256, size_bytes: sizeBytes })),
  };
}

/** Aborts an upload of the caller and deletes its parts. A completed file stays. */
export async function abandonUpload(
  ctx: Context,
  { params }: InputOf<typeof abandonUploadEndpoint>,
): Promise<void> {
  const { row } = await findUpload(ctx, params);
  if (row.revision_id === null) await endUpload(ctx, { uploadId: row.id, userId: ctx.caller.userId });
  await deleteAssetUpload(ctx.db, row.id);
}
