import type { completeUpload as endpoint } from '@bakehouse/contract/asset-uploads';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../../../platform/context.ts';
import { inTransaction } from '../../../../../platform/db/in-transaction.ts';
import { AppError } from '../../../../../platform/errors.ts';
import type { Http } from '../../../../../platform/http/bind.ts';
import { completeUpload as makeBlob } from '../../../../../platform/storage/uploads/complete-upload.ts';
import { endUpload, releaseUpload } from '../../../../../platform/storage/uploads/end-upload.ts';
import { noteCard } from '../../../card/card-data.ts';
import { findNewestFile } from '../../../queries.ts';
import { readFamilyOf } from '../../../recognise/note-family.ts';
import { toWireFile } from '../../../to-wire.ts';
import { readQuota } from '../../storage-quota.ts';
import { addFile } from '../add-file.ts';
import type { CheckModelFile } from '../upload-file.ts';
import { findUpload, type UploadParams } from './find-upload.ts';
import { noteRevision } from './queries.ts';

/** Below the usual timeout of proxies. */
const ANSWER_MS = 20_000;

type Answer = ResponseOf<typeof endpoint>;
const PENDING: Answer = { file: null, revision_id: null };

/** Uploads that this process is completing, by their ids: repeated calls wait for the same work. */
const completing = new Map<string, Promise<Answer>>();

/**
 * Completes an upload of the caller: its file appears in a new revision. A repeated call returns the same
 * result. Reading a large file takes minutes: it then returns 202 and continues in the background. Throws the
 * errors of the platform's `completeUpload` and of `addFile`, and AppError 'invalid_request' for a file that
 * must not be loaded as part of a model, which ends the upload.
 */
export async function completeUpload(
  ctx: Context,
  { params }: InputOf<typeof endpoint>,
  { reply }: Pick<Http, 'reply'>,
  { checkModelFile, answerMs = ANSWER_MS }: { checkModelFile: CheckModelFile; answerMs?: number },
): Promise<Answer> {
  const { row } = await findUpload(ctx, params);
  if (row.revision_id !== null) return answerAgain(ctx, params.id, row.path, row.revision_id);
  const work = completing.get(row.id) ?? complete(ctx, params, checkModelFile);
  if (!completing.has(row.id)) {
    completing.set(row.id, work);
    const forget = () => completing.delete(row.id);
    work.then(forget, forget);
  }
  const pause = Promise.withResolvers<null>();
  const timer = setTimeout(() => pause.resolve(null), answerMs);
  const answer = await Promise.race([work, pause.promise]).finally(() => clearTimeout(timer));
  if (answer) return answer;
  reply.code(202);
  return PENDING;
}

async function complete(ctx: Context, params: UploadParams, checkModelFile: CheckModelFile): Promise<Answer> {
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
        // The file cannot become valid.
        if (error instanceof AppError && error.code === 'invalid_request') await endUpload(ctx, who);
        throw error;
      });
  }
  const family = asset.dataset_type === 'MODEL' ? await readFamilyOf(ctx, { path: row.path, blob }) : null;
  await noteCard(ctx, { path: row.path, blob, userId });
  const quota = await readQuota(ctx, userId);
  return inTransaction(ctx.db, async (tx) => {
    const added = await addFile(tx, {
      ...{ assetId: asset.id, userId, path: row.path, blob, quota, family },
      params: { path: 'path', bytes: 'size_bytes' },
    });
    await noteRevision(tx, row.id, added.revision_id);
    await releaseUpload(tx, who);
    return added;
  });
}

async function answerAgain(
  { db }: Context,
  assetId: string,
  path: string,
  revisionId: string,
): Promise<Answer> {
  const file = await findNewestFile(db, assetId, path);
  if (file) return { file: toWireFile(file), revision_id: revisionId };
  // The file was deleted since.
  throw new AppError('not_found', { publicMessage: `${path} was deleted after its upload` });
}
