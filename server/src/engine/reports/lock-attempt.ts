import type { WorkloadCaller } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { hasEnded } from '../model/has-ended.ts';
import type { Workload } from '../model/workload.ts';
import { columns, toWorkload } from '../workload-row.ts';
import { workloadEnded } from './workload-ended.ts';

/**
 * Transaction step: returns the workload of the calling attempt, locked until the transaction ends. Throws
 * AppError('gone') if it has ended, or if another attempt replaced this one during the call: a large file
 * takes minutes.
 */
export async function lockAttempt(
  tx: Transaction,
  { workloadId, tokenSha256 }: WorkloadCaller,
): Promise<Workload> {
  const row = await tx
    .selectFrom('workloads')
    .select(columns)
    .where('id', '=', workloadId)
    .where('token_sha256', '=', tokenSha256)
    .forUpdate()
    .executeTakeFirst();
  const workload = row && toWorkload(row);
  if (!workload || hasEnded(workload)) throw workloadEnded();
  return workload;
}
