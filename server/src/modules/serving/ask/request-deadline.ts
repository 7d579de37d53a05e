import { timedOut } from '../../../platform/errors.ts';

/**
 * Reading a part of a prompt, writing a token or a step of a picture takes seconds even on the slowest
 * machine.
 */
const STILL_MS_MAX = 3 * 60_000;
/** From the request's arrival to the last token or the finished picture, waiting included. */
export const IN_ALL_MS_MAX = 30 * 60_000;
/** OpenAI's clients wait ten minutes for a non-streaming answer and then retry. */
export const ONE_PIECE_MS_MAX = 9.5 * 60_000;

export type RequestDeadline = {
  /** Aborted when the time is up, with the error for the caller as its reason. */
  signal: AbortSignal;
  /** True if the deadline expired because the model server stalled or this server stops. */
  isOurs: () => boolean;
  /**
   * The model server made progress: accepted the request, read a part of the prompt, wrote a token or made a
   * step.
   */
  progress: () => void;
  /** Stops the stall timer while nothing is expected of the model server. */
  rest: () => void;
  stop: () => void;
};

const WORDS = {
  text: { didNothing: 'wrote nothing', toFinish: 'its answer', askForLess: 'Ask for less at a time' },
  embedding: {
    didNothing: 'answered nothing',
    toFinish: 'the embeddings',
    askForLess: 'Send fewer inputs at a time',
  },
  image: { didNothing: 'generated nothing', toFinish: 'the picture', askForLess: 'Ask for fewer steps' },
};

/** Creates a deadline for the whole request and for stalls of its model server. `closing` also ends it. */
export function requestDeadline(
  modelName: string,
  kind: keyof typeof WORDS,
  { closing, inAllMs = IN_ALL_MS_MAX }: { closing?: AbortSignal; inAllMs?: number } = {},
): RequestDeadline {
  const { didNothing, toFinish, askForLess } = WORDS[kind];
  const over = new AbortController();
  const end = (sentence: string, { shouldRetry }: { shouldRetry: boolean }) =>
    over.abort(timedOut(`${modelName} ${sentence}`, { shouldRetry }));
  const inAll = setTimeout(
    () =>
      end(`did not finish ${toFinish} within ${inAllMs / 60_000} minutes. ${askForLess}`, {
        shouldRetry: false,
      }),
    inAllMs,
  );
  let still: NodeJS.Timeout | undefined;
  let isOurs = false;
  const close = () => {
    if (over.signal.aborted) return;
    isOurs = true;
    over.abort(closing?.reason);
  };
  // Removed explicitly because it outlives every request: see linkSignals.
  closing?.addEventListener('abort', close);
  if (closing?.aborted) close();
  const rest = () => clearTimeout(still);
  return {
    signal: over.signal,
    isOurs: () => isOurs,
    progress: () => {
      rest();
      still = setTimeout(() => {
        if (over.signal.aborted) return;
        isOurs = true;
        end(`${didNothing} for ${STILL_MS_MAX / 60_000} minutes. Try again`, { shouldRetry: true });
      }, STILL_MS_MAX);
    },
    rest,
    stop: () => {
      rest();
      clearTimeout(inAll);
      closing?.removeEventListener('abort', close);
    },
  };
}
