import { listMachines } from './engine/machines/queries.ts';
import type { Services } from './platform/context.ts';
import { checkWrites } from './platform/db/check-writes.ts';
import { AppError } from './platform/errors.ts';
import type { Role } from './roles.ts';

/** A pass over the workloads of a machine takes seconds, and the next one begins at once. */
const STILL_MS = 60_000;

type Options = {
  roles: Role[];
  /** When this process began, by `performance.now()`. */
  startedAt?: number;
};

/**
 * Makes the check that a process can do what its roles say: the database takes writes, and with the role reconciler
 * somebody looks after the workloads of its machine. That may be another process, behind which this one waits.
 */
export function checkReady(
  { db, pool, clock, machineId }: Pick<Services, 'db' | 'pool' | 'clock' | 'machineId'>,
  { roles, startedAt = performance.now() }: Options,
): () => Promise<void> {
  const takesWrites = checkWrites(pool);
  return async () => {
    await takesWrites();
    if (!roles.includes('reconciler') || performance.now() - startedAt < STILL_MS) return;
    const machine = (await listMachines(db)).find(({ id }) => id === machineId);
    // Each pass notes it at its beginning, which is the end of the one before.
    const seenAt = machine?.seen_at ?? null;
    if (seenAt && clock.now().getTime() - seenAt.getTime() < STILL_MS) return;
    throw new AppError('unavailable', {
      publicMessage: 'The workloads of this machine are not looked after',
      cause: new Error(`the last pass over them began ${seenAt ? `at ${seenAt.toISOString()}` : 'never'}`),
    });
  };
}
