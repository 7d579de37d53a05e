import { timingSafeEqual } from 'node:crypto';
import type { WorkloadCaller } from '../../platform/context.ts';
import type { Database } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/is-uuid.ts';
import { workloadEnded } from './workload-ended.ts';
import { hashToken } from './workload-token.ts';

/**
 * Authenticates a running workload by the token of its current attempt; null for any other token. Throws
 * AppError('gone') if the token is right but the workload has ended.
 */
export function authenticateWorkload(
  db: Database,
): (workloadId: string, token: string) => Promise<WorkloadCaller | null> {
  return async (workloadId, token) => {
    if (!isUuid(workloadId)) return null;
    const row = await db
      .selectFrom('workloads')
      .select(['token_sha256', 'ended_at'])
      .where('id', '=', workloadId)
      .executeTakeFirst();
    const tokenSha256 = hashToken(token);
    if (!row?.token_sha256 || !timingSafeEqual(row.token_sha256, tokenSha256)) return null;
    if (row.ended_at) throw workloadEnded();
    return { kind: 'workload', workloadId, tokenSha256 };
  };
}
