import { AppError } from '../../../platform/errors.ts';

/** How many attempts a picture has. One that ended with its server while a model server or a service was at it is none: it may go on for ever. */
export const ATTEMPTS_MAX = 3;
const PAUSE_MS = 3_000;
/** For so long after its first attempt a picture waits for whoever says when to come back, and that counts as no attempt. */
const FREE_WAIT_MS = 60 * 60_000;
/** One that has waited longer is not begun: its price is held for a day more. */
export const WAIT_MAX_MS = 6 * 24 * 60 * 60 * 1000;

export type GenerationStep =
  | { do: 'generate' }
  /** Gives its place back and is begun once more, at the earliest at `at`; `attempt` is how many count until then. */
  | { do: 'wait'; at: Date; reason: string; attempt: number }
  | { do: 'fail'; reason: string; refused: boolean };

/** Which attempt one that has a lease is at, where it counts. Pure. */
export function attemptOf({ row }: { row: { attempt: number } }): number {
  return row.attempt + 1;
}

/** What is next for a generation that has its turn; `attempt` is how many attempts have ended that count. Pure. */
export function planTurn(
  { attempt, created_at: createdAt }: { attempt: number; created_at: Date },
  now: Date,
): GenerationStep {
  // The last of them ended with its process, which was at the finished picture: nobody was left to say why.
  if (attempt >= ATTEMPTS_MAX) return fail('It was interrupted too many times');
  if (now.getTime() - createdAt.getTime() > WAIT_MAX_MS) return fail('It waited in the queue for too long');
  return { do: 'generate' };
}

/** What is next after this attempt, the first being 1, has failed. Pure. */
export function planAfterFailure(
  { attempt, started_at: startedAt }: { attempt: number; started_at: Date | null },
  error: unknown,
  now: Date,
): GenerationStep {
  const message =
    error instanceof AppError ? error.publicMessage : 'Something went wrong while it was being generated';
  // Whether it is tried again is not for the person to do.
  const sentence = message.replace(/(\. Try again)?\.?$/, '');
  if (isFinal(error)) return fail(sentence, error.code === 'invalid_request');
  // Whoever says when to come back is busy, or has finished and cannot be reached: waiting costs nothing more.
  const retryAfterMs = error instanceof AppError ? error.retryAfterMs : null;
  const isFree = retryAfterMs !== null && waitsFree(startedAt, now);
  if (!isFree && attempt >= ATTEMPTS_MAX) return fail(sentence);
  const pauseMs = isFree ? PAUSE_MS : PAUSE_MS * 2 ** (attempt - 1);
  return {
    do: 'wait',
    at: new Date(now.getTime() + Math.max(pauseMs, retryAfterMs ?? 0)),
    reason: `${sentence}. Trying again`,
    attempt: isFree ? attempt - 1 : attempt,
  };
}

/** Whether a picture that was first begun then may still wait without that counting as an attempt. Pure. */
export function waitsFree(startedAt: Date | null, now: Date): boolean {
  return startedAt === null || now.getTime() - startedAt.getTime() < FREE_WAIT_MS;
}

/**
 * Whether no further attempt is made: what is refused would be refused again, what only the operator can mend stays as it
 * is, and what a service may have begun would be paid for twice. Of a conflict `shouldRetry` is said of calls from outside,
 * and it may be over here. Pure.
 */
export function isFinal(error: unknown): error is AppError {
  if (!(error instanceof AppError)) return false;
  const { code, shouldRetry } = error;
  return code === 'invalid_request' || code === 'internal' || (!shouldRetry && code !== 'conflict');
}

function fail(reason: string, refused = false): GenerationStep {
  return { do: 'fail', reason, refused };
}
