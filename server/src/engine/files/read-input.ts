import type { InputOf } from '@bakehouse/contract/endpoint';
import type { getWorkloadInput } from '@bakehouse/contract/workloads';
import type { Context, WorkloadCaller } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { sendBlob } from '../../platform/storage/send-blob.ts';
import { findInput } from './file-queries.ts';

/** Sends the bytes of a file that the workload's own spec names, or that it was lent; any other hash is not found. */
export async function readInput(
  ctx: Context<WorkloadCaller>,
  { params }: InputOf<typeof getWorkloadInput>,
  http: Http,
): Promise<void> {
  const { sha256 } = params;
  const size = await findInput(ctx.db, ctx.caller.workloadId, sha256);
  if (size === null) throw new AppError('not_found', { publicMessage: 'This workload has no such input' });
  const headers = { 'content-type': 'application/octet-stream' };
  await sendBlob(ctx, http, { sha256, path: `the input ${sha256}`, sizeBytes: size, headers });
}
