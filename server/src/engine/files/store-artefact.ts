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

/** Far above any adapter; uploads that would fill the disk are rejected earlier. */
const ARTEFACT_BYTES_MAX = 64 * 1024 ** 3;
/** The connection is closed if its body pauses this long. */
const STALL_MS = 60_000;

/**
 * Stores one output file. The same path replaces it; replaced bytes without another owner are deleted
 * immediately, because a large run leaves gigabytes with each checkpoint. Throws AppError 'invalid_request'
 * if the bytes do not match the announced ones, and 'payload_too_large'.
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
  // The sender waits while gigabytes are written to the disk.
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
    // The runtime reported this checkpoint before, and creates no other until this call returns.
    if (path === CHECKPOINT)
      await updateWorkload(tx, workload.id, { checkpointSeconds: workload.savedSeconds });
    return upsertArtefact(tx, workload.id, { path, ...blob });
  });
  if (before) await collectReplaced(ctx, before);
}

/** Leaves bytes that were stored again since to the collector. */
async function collectReplaced(
  ctx: Context<WorkloadCaller>,
  { sha256, stored_at }: { sha256: string; stored_at: Date },
): Promise<void> {
  // The database has microsecond precision.
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
