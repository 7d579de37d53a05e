import { AsyncLocalStorage } from 'node:async_hooks';

/** The sign-in library says nothing of the call in which it makes an account. */
const counts = new AsyncLocalStorage<() => Promise<void>>();

/** Runs `work`; an account that is made in it counts by `count`. */
export function countingSignUps<T>(count: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  return counts.run(count, work);
}

/** Counts an account that is about to be made. Throws AppError('rate_limited') for one too many. */
export async function countSignUp(): Promise<void> {
  await counts.getStore()?.();
}
