import { AppError } from '../../platform/errors.ts';

const RETRY_AFTER_MS = 10_000;

/** All visitor slots are in use. */
export function busyWithOthers(): AppError {
  return new AppError('rate_limited', {
    publicMessage: 'Other visitors are trying it right now. Try again in a few seconds, or sign up.',
    retryAfterMs: RETRY_AFTER_MS,
  });
}

/** Runs `work` for a visitor and rephrases errors for users without an account. */
export async function explainRefusal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'insufficient_funds')
      throw new AppError('rate_limited', {
        publicMessage: "Today's free tries are used up. Sign up to go on.",
      });
    if (error.code === 'rate_limited') throw busyWithOthers();
    throw error;
  }
}
