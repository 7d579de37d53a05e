import type { InputOf } from '@bakehouse/contract/endpoint';
import { formatBytes } from '@bakehouse/contract/labels';
import type { putWorkloadArtefact } from '@bakehouse/contract/workloads';
import type { Context, WorkloadCaller } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { invalidParam } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { HashMismatch } from '../../platform/storage/blob-store.ts';
import { collectBlob, storeBlob } from '../../platform/storage/store-blob.ts';
import { updateWorkload } from '../queries.ts';
import { lockAttempt } from '../reports/attempts.ts';
import { CHECKPOINT, upsertArtefact } from './file-queries.ts';

/** Far larger than any adapter. Uploads that would fill the disk are rejected earlier. */
const ARTEFACT_BYTES_MAX = 64 * 1024 ** 3;
/** The connection is closed if its body pauses for this long. */
const STALL_MS = 60_000;

/**
 * Stores one output file of an attempt. A file with the same path is replaced, and its bytes are deleted
 * immediately if they have no other owner: each checkpoint of a large run has gigabytes. Throws AppError
 * 'invalid_request' if the bytes do not have the announced hash, and 'payload_too_large'.
 */
export async function storeArtefact(
  ctx: Context<WorkloadCaller>,
  { params }: InputOf<typeof putWorkloadArtefact>,
  { request }: Pick<Http, 'request'>,
  limits = { bytes: ARTEFACT_BYTES_MAX, stallMs: STALL_MS },
): Promise<void> {
  const path = params['*'];
  if (!isSafePath(path)) {
    throw invalidParam('*', `'${path}' is not a path within the artefacts`);
  }
  const announced = String(request.headers['x-content-sha256']);
  const others = (sha256: string) =>
    invalidParam(
      'X-Content-SHA256',
      `${path} arrived with the SHA-256 ${sha256}, not the one announced in X-Content-SHA256`,
    );
  const { raw } = request;
  // Closes the connection without a response.
  raw.setTimeout(limits.stallMs, () => raw.destroy());
  // No time limit once the body is complete: writing gigabytes to the disk may take minutes.
  raw.once('end', () => raw.setTimeout(0));
  const blob = await storeBlob(ctx, raw, {
    sizeBytesMax: limits.bytes,
    tooLargeMessage: `${path} is larger than the ${formatBytes(limits.bytes)} that one output file may have`,
    expectedBytes: Number(request.headers['content-length'] ?? 0),
    expectedSha256: announced,
  })
    .catch((error: unknown) => {
      throw error instanceof HashMismatch ? others(error.sha256) : error;
    })
    .finally(() => raw.setTimeout(0));
  const before = await inTransaction(ctx.db, async (tx) => {
    const workload = await lockAttempt(tx, ctx.caller);
    // The runtime has already reported the seconds that this checkpoint saves, and writes no other checkpoint
    // during this call.
    if (path === CHECKPOINT)
      await updateWorkload(tx, workload.id, { checkpointSeconds: workload.savedSeconds });
    return upsertArtefact(tx, workload.id, { path, ...blob });
  });
  if (before) await collectReplaced(ctx, before);
}

/** Deletes replaced bytes, unless they were stored again in the meantime. */
async function collectReplaced(
  ctx: Context<WorkloadCaller>,
  { sha256, stored_at }: { sha256: string; stored_at: Date },
): Promise<void> {
  // Round up: the database has microseconds, a Date only milliseconds.
  const untouchedSince = new Date(stored_at.getTime() + 1);
  await collectBlob(ctx, { sha256, untouchedSince }).catch((error: unknown) =>
    ctx.log.warn({ err: error, sha256 }, 'leaving a replaced output file to the collector'),
  );
}

function isSafePath(path: string): boolean {
  return (
    path.length <= 500 &&
    !path.includes('\\') &&
    !path.includes('\0') &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}
