import type { InputOf } from '@bakehouse/contract/endpoint';
import type { getWorkloadInput } from '@bakehouse/contract/workloads';
import type { Context, WorkloadCaller } from '../platform/context.ts';
import { AppError } from '../platform/errors.ts';
import type { Http } from '../platform/http/bind.ts';
import { parseRange } from '../platform/http/parse-range.ts';
import { readBlob } from '../platform/storage/read-blob.ts';
import { findInput } from './file-queries.ts';

/** Sends the bytes of a file that the workload's own spec names; any other hash is not found. */
export async function readInput(
  ctx: Context<WorkloadCaller>,
  { params }: InputOf<typeof getWorkloadInput>,
  { request, reply }: Http,
): Promise<void> {
  const { sha256 } = params;
  const size = await findInput(ctx.db, ctx.caller.workloadId, sha256);
  if (size === null) throw new AppError('not_found', { publicMessage: 'This workload has no such input' });

  const range = parseRange(request.headers.range, size);
  if (range === 'unsatisfiable') {
    await reply.code(416).header('content-range', `bytes */${size}`).send();
    return;
  }
  const bytes =
    size === 0
      ? Buffer.alloc(0)
      : await readBlob(ctx, { sha256, path: `the input ${sha256}`, range: range ?? undefined });
  reply
    .code(range ? 206 : 200)
    .header('content-type', 'application/octet-stream')
    .header('accept-ranges', 'bytes')
    .header('content-length', range ? range.end - range.start + 1 : size);
  if (range) reply.header('content-range', `bytes ${range.start}-${range.end}/${size}`);
  await reply.send(bytes);
}
