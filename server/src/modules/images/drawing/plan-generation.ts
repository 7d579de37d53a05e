import { AppError } from '../../../platform/errors.ts';

/** How often a picture is begun. */
export const ATTEMPTS_MAX = 3;
const PAUSE_MS = 3_000;

export type GenerationStep =
  | { do: 'draw' }
  /** Gives its place back and is begun once more, at the earliest at `at`. */
  | { do: 'wait'; at: Date; reason: string }
  | { do: 'fail'; reason: string; refused: boolean };

/** What is next for a generation that has its turn; `attempt` counts how often it was begun. Pure. */
export function planTurn({ attempt }: { attempt: number }): GenerationStep {
  // Each of them ended with its process: nobody was left to say why.
  return attempt >= ATTEMPTS_MAX
    ? { do: 'fail', reason: failed('It was interrupted too often'), refused: false }
    : { do: 'draw' };
}

/** What is next after an attempt that has failed. Pure. */
export function planAfterFailure(
  { attempt }: { attempt: number },
  error: unknown,
  now: Date,
): GenerationStep {
  const said = error instanceof AppError ? error.publicMessage : 'The picture came back broken';
  const sentence = said.replace(/\.$/, '');
  // Asked again, the same would be refused again.
  const refused = error instanceof AppError && error.code === 'invalid_request';
  if (refused || attempt >= ATTEMPTS_MAX) return { do: 'fail', reason: failed(sentence), refused };
  return {
    do: 'wait',
    at: new Date(now.getTime() + PAUSE_MS * 2 ** (attempt - 1)),
    reason: `${sentence}. It is begun again`,
  };
}

function failed(sentence: string): string {
  return `${sentence}. Nothing was charged`;
}
