import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { WorkloadCaller } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { workloadEnded } from '../../platform/errors.ts';
import { isUuid } from '../../platform/is-uuid.ts';
import { listUptimes } from '../machines/queries.ts';
import { newestGaplessSpan } from '../machines/read-machines.ts';
import type { Span } from '../model/span.ts';
import { hasEnded, type Workload } from '../model/workload.ts';
import { columns, toWorkload } from '../workloads.ts';

/**
 * Authenticates a running workload by the token of its current attempt. Returns null for any other token.
 * Throws AppError('gone') if the token is right but the workload has ended.
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

/** Returns the secret of one attempt, with which the workload calls the server. */
export function createToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the hash of a token, as stored in the database. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * Transaction step: returns the workload of the calling attempt, locked until the transaction ends. Throws
 * AppError('gone') if the workload has ended. Also throws if another attempt replaced this one during the
 * call, which may have uploaded a large file for minutes.
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

/** Returns the period up to the last heartbeat in which reports were accepted without a gap, or null. */
export async function findWatched(db: Database | Transaction): Promise<Span | null> {
  return newestGaplessSpan(await listUptimes(db));
}
