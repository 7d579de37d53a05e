import { findSeenAt } from './engine/machines/queries.ts';
import { keepBriefly } from './platform/concurrency/keep-briefly.ts';
import type { Services } from './platform/context.ts';
import { checkWrites } from './platform/db/check-writes.ts';
import { AppError } from './platform/errors.ts';
import type { Role } from './roles.ts';

/** A pass over the workloads of a machine takes seconds, and the next one begins at once. */
const STILL_MS = 60_000;
const KEPT_MS = 2_000;

type Options = {
  roles: Role[];
  /** When this process began, by `performance.now()`. */
  startedAt?: number;
};

/**
 * Makes the check that a process can do what its roles say: the database takes writes, and with the role reconciler
 * somebody looks after the workloads of its machine. That may be another process, behind which this one waits. An answer
 * is good for two seconds, so that many who ask cost no more than one.
 */
export function checkReady(
  { db, pool, clock, machineId }: Pick<Services, 'db' | 'pool' | 'clock' | 'machineId'>,
  { roles, startedAt = performance.now() }: Options,
): () => Promise<void> {
  const check = async () => {
    await checkWrites(pool);
    if (!roles.includes('reconciler') || performance.now() - startedAt < STILL_MS) return;
    // Each pass notes it at its beginning, which is the end of the one before.
    const seenAt = await findSeenAt(db, machineId);
    if (seenAt && clock.now().getTime() - seenAt.getTime() < STILL_MS) return;
    throw new AppError('unavailable', {
      publicMessage: 'The workloads of this machine are not looked after',
      cause: new Error(`the last pass over them began ${seenAt ? `at ${seenAt.toISOString()}` : 'never'}`),
    });
  };
  return keepBriefly(check, KEPT_MS);
}
