import type { InputOf } from '@bakehouse/contract/endpoint';
import type { getWorkloadInput } from '@bakehouse/contract/workloads';
import type { Context, WorkloadCaller } from '../platform/context.ts';
import { AppError } from '../platform/errors.ts';
import type { Http } from '../platform/http/bind.ts';
import { parseRange } from '../platform/http/parse-range.ts';
import { readBlob } from '../platform/storage/read-blob.ts';
import { findWorkload } from './queries.ts';

/** Sends the bytes of a file that the workload's own spec names; any other hash is not found. */
export async function readInput(
  ctx: Context<WorkloadCaller>,
  { params }: InputOf<typeof getWorkloadInput>,
  { request, reply }: Http,
): Promise<void> {
  const workload = await findWorkload(ctx.db, ctx.caller.workloadId);
  const file = workload?.spec.inputs
    .flatMap((input) => input.files)
    .find(({ sha256 }) => sha256 === params.sha256);
  if (!file) throw new AppError('not_found', { publicMessage: 'This workload has no such input' });

  const size = file.size_bytes;
  const range = parseRange(request.headers.range, size);
  if (range === 'unsatisfiable') {
    await reply.code(416).header('content-range', `bytes */${size}`).send();
    return;
  }
  const bytes = size === 0 ? Buffer.alloc(0) : await readBlob(ctx, { ...file, range: range ?? undefined });
  reply
    .code(range ? 206 : 200)
    .header('content-type', 'application/octet-stream')
    .header('accept-ranges', 'bytes')
    .header('content-length', range ? range.end - range.start + 1 : size);
  if (range) reply.header('content-range', `bytes ${range.start}-${range.end}/${size}`);
  await reply.send(bytes);
}
