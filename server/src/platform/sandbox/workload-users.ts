import { randomInt } from 'node:crypto';

/*
 * systemd's range for users of transient services: no account uses it, and it exists in containers with only
 * 65536 users.
 */
const FIRST = 61_184;
const LAST = 65_519;
/** The first ones are for programs that read one file and exit. */
const READERS = 512;

/** User for testing the sandbox, and placeholder without separate users. Shares nothing. */
export const TRIAL_USER = FIRST;

/** Returns the users of programs that read a file and exit, starting at a random one. */
export function readerUsers(): number[] {
  const count = READERS - 1;
  const first = randomInt(count);
  return Array.from({ length: count }, (_, step) => TRIAL_USER + 1 + ((first + step) % count));
}

/** Returns true for a user of such programs. */
export function isReaderUser(user: number): boolean {
  return user > TRIAL_USER && user < FIRST + READERS;
}

/** Returns true for a user that belongs to one workload. */
export function isWorkloadUser(user: number): boolean {
  return user >= FIRST + READERS && user <= LAST;
}

/** Returns a free user for a workload. `seed` makes two servers of a machine choose differently. */
export function freeWorkloadUser(taken: ReadonlySet<number>, seed: number): number {
  const count = LAST - FIRST - READERS + 1;
  for (let step = 0; step < count; step += 1) {
    const user = FIRST + READERS + ((seed + step) % count);
    if (!taken.has(user)) return user;
  }
  throw new Error('There are no more users for workloads: too many have left files');
}
