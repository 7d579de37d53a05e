import type { WorkloadCaller } from '../../platform/context.ts';
import type { Database } from '../../platform/db/database.ts';
import { createToken, hashToken } from '../reports/attempts.ts';

/** For tests: a new attempt of the workload that replaces the current one; the result authenticates calls. */
export async function testAttempt(db: Database, workloadId: string): Promise<WorkloadCaller> {
  const tokenSha256 = hashToken(createToken());
  await db.updateTable('workloads').set({ token_sha256: tokenSha256 }).where('id', '=', workloadId).execute();
  return { kind: 'workload', workloadId, tokenSha256 };
}
