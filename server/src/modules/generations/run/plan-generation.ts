import { AppError } from '../../../platform/errors.ts';

/**
 * Maximum attempts per picture. An attempt counts only once the model server or service has returned the
 * output.
 */
export const ATTEMPTS_MAX = 3;
const PAUSE_MS = 3_000;
/**
 * During this time after the first attempt, a wait that retry-after requests does not count as an attempt.
 */
const FREE_WAIT_MS = 60 * 60_000;
/** Maximum wait in the queue. The price is held for only one day longer. */
export const WAIT_MAX_MS = 6 * 24 * 60 * 60 * 1000;

export type GenerationStep =
  | { do: 'generate' }
  /** Releases the slot, and retries at `at` or later. `attempt` is the number of counted attempts. */
  | { do: 'wait'; at: Date; reason: string; attempt: number }
  | { do: 'fail'; reason: string; refused: boolean };

/** Returns the number of the leased generation's current attempt. */
export function attemptOf({ row }: { row: { attempt: number } }): number {
  return row.attempt + 1;
}

/** Returns the next step of a leased generation. `attempt` is the number of counted attempts. */
export function planLeased(
  { attempt, created_at: createdAt }: { attempt: number; created_at: Date },
  now: Date,
): GenerationStep {
  // The process of the last attempt died after the picture had arrived, so the error is unknown.
  if (attempt >= ATTEMPTS_MAX) return fail('It was interrupted too many times');
  if (now.getTime() - createdAt.getTime() > WAIT_MAX_MS) return fail('It waited in the queue for too long');
  return { do: 'generate' };
}

/** Returns the next step after a failed attempt. `attempt` starts at 1. */
export function planAfterFailure(
  { attempt, started_at: startedAt }: { attempt: number; started_at: Date | null },
  error: unknown,
  now: Date,
): GenerationStep {
  const message =
    error instanceof AppError ? error.publicMessage : 'Something went wrong while it was being generated';
  // Remove 'Try again': the server retries, not the user.
  const sentence = message.replace(/(\. Try again)?\.?$/, '');
  if (isFinal(error)) return fail(sentence, error.code === 'invalid_request');
  // Retry-after means that the provider is busy, or that its finished output cannot be reached. Waiting costs
  // nothing.
  const retryAfterMs = error instanceof AppError ? error.retryAfterMs : null;
  const isFree = retryAfterMs !== null && isWaitFree(startedAt, now);
  if (!isFree && attempt >= ATTEMPTS_MAX) return fail(sentence);
  const pauseMs = isFree ? PAUSE_MS : PAUSE_MS * 2 ** (attempt - 1);
  return {
    do: 'wait',
    at: new Date(now.getTime() + Math.max(pauseMs, retryAfterMs ?? 0)),
    reason: `${sentence}. Trying again`,
    attempt: isFree ? attempt - 1 : attempt,
  };
}

/** True if waiting does not count as an attempt yet. `startedAt` is the start of the first attempt. */
export function isWaitFree(startedAt: Date | null, now: Date): boolean {
  return startedAt === null || now.getTime() - startedAt.getTime() < FREE_WAIT_MS;
}

/**
 * True if a retry is pointless: a rejected request stays rejected, an internal error needs the operator, and
 * a job that a service may have started would be charged twice. A conflict is always retried, because it may
 * resolve; its `shouldRetry` only addresses API clients.
 */
export function isFinal(error: unknown): error is AppError {
  if (!(error instanceof AppError)) return false;
  const { code, shouldRetry } = error;
  return code === 'invalid_request' || code === 'internal' || (!shouldRetry && code !== 'conflict');
}

function fail(reason: string, refused = false): GenerationStep {
  return { do: 'fail', reason, refused };
}
