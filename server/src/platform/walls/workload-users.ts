import { randomInt } from 'node:crypto';

/*
 * The range that systemd keeps for users who exist only while a service runs: no account has a number
 * in it, and it is there in containers that know 65536 users alone.
 */
const FIRST = 61_184;
const LAST = 65_519;
/** The first ones are for programs that read one file and end. */
const READERS = 512;

/** The user of a program that reads a file and ends. It owns nothing, so a number may come again. */
export function readerUser(): number {
  return FIRST + randomInt(READERS);
}

/** Whether a user is one of those that belong to one workload each. */
export function isWorkloadUser(user: number): boolean {
  return user >= FIRST + READERS && user <= LAST;
}

/** A user for a workload that none of the others has. `seed` keeps two servers of one machine apart. */
export function freeWorkloadUser(taken: ReadonlySet<number>, seed: number): number {
  const count = LAST - FIRST - READERS + 1;
  for (let step = 0; step < count; step += 1) {
    const user = FIRST + READERS + ((seed + step) % count);
    if (!taken.has(user)) return user;
  }
  throw new Error('There are no more users for workloads: too many have left files');
}
