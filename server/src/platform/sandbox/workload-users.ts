import { randomInt } from 'node:crypto';

/*
 * The range that systemd keeps for users who exist only while a service runs: no account has a number
 * in it, and it is there in containers that know 65536 users alone.
 */
const FIRST = 61_184;
const LAST = 65_519;
/** The first ones are for programs that read one file and end. */
const READERS = 512;

/**
 * The user that the sandbox is tested with, and the placeholder where it does not separate by users. Nothing is
 * shared with it.
 */
export const TRIAL_USER = FIRST;

/** The users of programs that read a file and end, in an order that differs from call to call. */
export function readerUsers(): number[] {
  const count = READERS - 1;
  const first = randomInt(count);
  return Array.from({ length: count }, (_, step) => TRIAL_USER + 1 + ((first + step) % count));
}

/** Whether a user is one of those. */
export function isReaderUser(user: number): boolean {
  return user > TRIAL_USER && user < FIRST + READERS;
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
