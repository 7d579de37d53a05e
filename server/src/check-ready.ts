import { findSeenAt } from './engine/machines/queries.ts';
import { shareResult } from './platform/concurrency/share-result.ts';
import type { Services } from './platform/context.ts';
import { checkWrites } from './platform/db/check-writes.ts';
import { unavailable } from './platform/errors.ts';
import type { Role } from './roles.ts';

/** A pass over a machine's workloads takes seconds, and the next one starts immediately. */
const STILL_MS = 60_000;
const KEPT_MS = 2_000;

type Options = {
  roles: Role[];
  /** When this process started, by `performance.now()`. */
  startedAt?: number;
};

/**
 * Creates the readiness check: the database accepts writes and, for a reconciler, some process checks this
 * machine's workloads. That process may be another one, with this one as its standby. The result is cached
 * for two seconds so that concurrent probes share one query.
 */
export function checkReady(
  { db, pool, clock, machineId }: Pick<Services, 'db' | 'pool' | 'clock' | 'machineId'>,
  { roles, startedAt = performance.now() }: Options,
): () => Promise<void> {
  const check = async () => {
    await checkWrites(pool);
    if (!roles.includes('reconciler') || performance.now() - startedAt < STILL_MS) return;
    // Each pass records its start, which is the end of the previous pass.
    const seenAt = await findSeenAt(db, machineId);
    if (seenAt && clock.now().getTime() - seenAt.getTime() < STILL_MS) return;
    throw unavailable('No process manages the workloads of this machine', {
      cause: new Error(`the last pass started ${seenAt ? `at ${seenAt.toISOString()}` : 'never'}`),
    });
  };
  return shareResult(check, KEPT_MS);
}
