import type { InputOf } from '@bakehouse/contract/endpoint';
import type { getWorkloadInput } from '@bakehouse/contract/workloads';
import type { Context, WorkloadCaller } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError, notFound } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/answer.ts';
import { answerBlob, type FileRequest } from '../../platform/storage/answer-blob.ts';
import { readBlobState } from '../../platform/storage/queries.ts';
import { updateWorkload } from '../queries.ts';
import { lockAttempt } from '../reports/attempts.ts';
import { deleteCheckpoint, findInput } from './file-queries.ts';

/** Long enough to download any file. A client whose download was interrupted requests a new link. */
const LINK_MS = 60 * 60_000;
/** Header of clients that follow a link to the object store without sending their token. */
const LINKS = 'x-bakehouse-links';

/**
 * Returns a file that the workload may read, or a link to it if the client follows links. Other hashes return
 * 404. Throws AppError('conflict') if the bytes are damaged or missing. If those bytes are the workload's
 * checkpoint, its next attempt starts from scratch.
 */
export async function readInput(
  ctx: Context<WorkloadCaller>,
  { params }: InputOf<typeof getWorkloadInput>,
  request: FileRequest,
): Promise<Answer> {
  const { sha256 } = params;
  const size = await findInput(ctx.db, ctx.caller.workloadId, sha256);
  if (size === null) throw notFound('Input');
  const headers = { 'content-type': 'application/octet-stream' };
  const link = request.headers[LINKS] === undefined ? null : await findLink(ctx, sha256);
  if (link !== null) return new Answer(undefined, { status: 307, headers: { location: link } });
  try {
    return await answerBlob(ctx, request, { sha256, path: `the input ${sha256}`, sizeBytes: size, headers });
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') await recordLostCheckpoint(ctx, sha256);
    throw error;
  }
}

/** Null if the store has no links, or if the bytes may be damaged, so that the client gets an error. */
async function findLink(
  { blobs, clock, db }: Context<WorkloadCaller>,
  sha256: string,
): Promise<string | null> {
  const link = await blobs.presign(sha256, {
    ...{ contentType: 'application/octet-stream', contentDisposition: 'attachment' },
    expiresAt: new Date(clock.now().getTime() + LINK_MS),
  });
  if (link === null || (await readBlobState(db, sha256)).isDamaged) return null;
  return (await blobs.stat(sha256)) === null ? null : link;
}

/** Sets the saved progress to zero if the file was the checkpoint: it was the last copy (workload.py). */
async function recordLostCheckpoint({ db, caller }: Context<WorkloadCaller>, sha256: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { id } = await lockAttempt(tx, caller);
    if (!(await deleteCheckpoint(tx, id, sha256))) return;
    await updateWorkload(tx, id, { checkpointSeconds: 0, savedSeconds: 0, activeSeconds: 0 });
  });
}
