import type { InputOf } from '@bakehouse/contract/endpoint';
import { formatBytes } from '@bakehouse/contract/limits';
import type { putWorkloadArtefact } from '@bakehouse/contract/workloads';
import type { Context, WorkloadCaller } from '../platform/context.ts';
import { inTransaction } from '../platform/db/in-transaction.ts';
import { AppError } from '../platform/errors.ts';
import type { Http } from '../platform/http/bind.ts';
import { storeBlob } from '../platform/storage/store-blob.ts';
import { upsertArtefact } from './file-queries.ts';
import { lockWorkload } from './queries.ts';
import { hasEnded } from './workload.ts';
import { workloadGone } from './workload-gone.ts';

/** Far above any adapter; what would leave too little room on the disk is refused before. */
const ARTEFACT_BYTES_MAX = 64 * 1024 ** 3;
/** A body of which nothing comes for so long is given up. */
const STALL_MS = 60_000;

/**
 * Stores one output file. The same path again replaces it. Throws AppError('invalid_request') when
 * the bytes are others than announced, and 'payload_too_large' when they are too many.
 */
export async function storeArtefact(
  ctx: Context<WorkloadCaller>,
  { params }: InputOf<typeof putWorkloadArtefact>,
  { request }: Pick<Http, 'request'>,
  limits = { bytes: ARTEFACT_BYTES_MAX, stallMs: STALL_MS },
): Promise<void> {
  const path = params['*'];
  if (!isSafePath(path)) {
    throw new AppError('invalid_request', {
      publicMessage: `'${path}' is not a path within the artefacts`,
      param: '*',
    });
  }
  const announced = request.headers['x-content-sha256'];
  const { raw } = request;
  // Ends the connection, so nobody is there to be answered.
  raw.setTimeout(limits.stallMs, () => raw.destroy());
  const blob = await storeBlob(ctx, raw, {
    sizeBytesMax: limits.bytes,
    tooLargeMessage: `${path} is larger than the ${formatBytes(limits.bytes)} that one output file may have`,
    expectedBytes: Number(request.headers['content-length'] ?? 0),
  }).finally(() => raw.setTimeout(0));
  if (blob.sha256 !== announced) {
    // The bytes stay: others may have the same, and what nobody names is collected.
    throw new AppError('invalid_request', {
      publicMessage: `${path} arrived with the SHA-256 ${blob.sha256}, not the one announced in X-Content-SHA256`,
      param: 'X-Content-SHA256',
    });
  }
  await inTransaction(ctx.db, async (tx) => {
    const workload = await lockWorkload(tx, ctx.caller.workloadId);
    if (!workload || hasEnded(workload)) throw workloadGone();
    await upsertArtefact(tx, workload.id, { path, ...blob }, ctx.clock.now());
  });
}

function isSafePath(path: string): boolean {
  return (
    path.length <= 500 &&
    !path.includes('\\') &&
    !path.includes('\0') &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}
