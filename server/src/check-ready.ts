import { findSeenAt } from './engine/machines/queries.ts';
import { shareResult } from './platform/concurrency/share-result.ts';
import type { Services } from './platform/context.ts';
import { checkWrites } from './platform/db/check-writes.ts';
import { unavailable } from './platform/errors.ts';
import type { Role } from './roles.ts';

/** Much longer than a pass over a machine's workloads, which takes seconds. The next one starts at once. */
const STILL_MS = 60_000;
const KEPT_MS = 2_000;

type Options = {
  roles: Role[];
  /** When this process started, by `performance.now()`. */
  startedAt?: number;
};

/**
 * Creates the readiness check. A process is ready if the database accepts writes. A reconciler is ready only
 * if some process also makes passes over the machine's workloads; this process may be the standby of that
 * one. The result is cached for two seconds, so that concurrent probes share one query.
 */
export function checkReady(
  { db, pool, clock, machineId }: Pick<Services, 'db' | 'pool' | 'clock' | 'machineId'>,
  { roles, startedAt = performance.now() }: Options,
): () => Promise<void> {
  const check = async () => {
    await checkWrites(pool);
    if (!roles.includes('reconciler') || performance.now() - startedAt < STILL_MS) return;
    // Each pass records when it starts, which is also when the previous one ended.
    const seenAt = await findSeenAt(db, machineId);
    if (seenAt && clock.now().getTime() - seenAt.getTime() < STILL_MS) return;
    throw unavailable('No process manages the workloads of this machine', {
      cause: new Error(`the last pass started ${seenAt ? `at ${seenAt.toISOString()}` : 'never'}`),
    });
  };
  return shareResult(check, KEPT_MS);
}
