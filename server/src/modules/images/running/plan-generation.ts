import { AppError } from '../../../platform/errors.ts';

/** How often a picture is begun. */
export const ATTEMPTS_MAX = 3;
const PAUSE_MS = 3_000;
/** For so long after its first attempt a picture waits for who says when to come back, and that counts as no attempt. */
const FREE_WAIT_MS = 60 * 60_000;
/** One that has waited longer is not begun: its price is held for a day more. */
export const WAIT_MAX_MS = 6 * 24 * 60 * 60 * 1000;

export type GenerationStep =
  | { do: 'generate' }
  /** Gives its place back and is begun once more, at the earliest at `at`; `attempt` is how many count until then. */
  | { do: 'wait'; at: Date; reason: string; attempt: number }
  | { do: 'fail'; reason: string; refused: boolean };

/** What is next for a generation that has its turn; `attempt` counts how often it was begun. Pure. */
export function planTurn(
  { attempt, created_at: createdAt }: { attempt: number; created_at: Date },
  now: Date,
): GenerationStep {
  // Each of them ended with its process: nobody was left to say why.
  if (attempt >= ATTEMPTS_MAX) return fail('It was interrupted too many times');
  if (now.getTime() - createdAt.getTime() > WAIT_MAX_MS) return fail('It waited in the queue for too long');
  return { do: 'generate' };
}

/** What is next after an attempt that has failed. Pure. */
export function planAfterFailure(
  { attempt, started_at: startedAt }: { attempt: number; started_at: Date | null },
  error: unknown,
  now: Date,
): GenerationStep {
  const message =
    error instanceof AppError
      ? error.publicMessage
      : 'Something went wrong while the picture was being generated';
  // Whether it is tried again is not for the person to do.
  const sentence = message.replace(/(\. Try again)?\.?$/, '');
  // Asked again, the same would be refused again.
  const refused = error instanceof AppError && error.code === 'invalid_request';
  // So it would where only the operator can mend it; and what a service may have begun would be paid for twice.
  const isHopeless = refused || (error instanceof AppError && (error.code === 'internal' || isLast(error)));
  const reason = `${sentence}. Trying again`;
  const after = (ms: number) => new Date(now.getTime() + ms);
  // Who says when to come back has begun nothing: it waits here as it would there.
  const retryAfterMs = error instanceof AppError ? error.retryAfterMs : null;
  const isFree = startedAt === null || now.getTime() - startedAt.getTime() < FREE_WAIT_MS;
  if (retryAfterMs !== null && isFree && !isHopeless)
    return { do: 'wait', at: after(Math.max(PAUSE_MS, retryAfterMs)), reason, attempt: attempt - 1 };
  if (isHopeless || attempt >= ATTEMPTS_MAX) return fail(sentence, refused);
  return { do: 'wait', at: after(PAUSE_MS * 2 ** (attempt - 1)), reason, attempt };
}

/** Whoever threw it has said so; of a conflict that is said of calls from outside, and it may be over here. */
export function isLast({ code, shouldRetry }: AppError): boolean {
  return !shouldRetry && code !== 'conflict';
}

function fail(reason: string, refused = false): GenerationStep {
  return { do: 'fail', reason, refused };
}
