import type { WorkloadCaller } from '../../platform/context.ts';
import type { Database } from '../../platform/db/database.ts';
import { createToken, hashToken } from '../reports/workload-token.ts';

/** For tests: an attempt at the workload that takes the place of any other, as a start does; calls go by what it returns. */
export async function testAttempt(db: Database, workloadId: string): Promise<WorkloadCaller> {
  const tokenSha256 = hashToken(createToken());
  await db.updateTable('workloads').set({ token_sha256: tokenSha256 }).where('id', '=', workloadId).execute();
  return { kind: 'workload', workloadId, tokenSha256 };
}
