import { timedOut } from '../../../platform/errors.ts';

/**
 * Reading a part of a prompt, writing a token or a step of a picture takes seconds even on the slowest
 * machine.
 */
const STILL_MS_MAX = 3 * 60_000;
/**
 * Maximum time from the arrival of a request to the last token or the finished picture, including time in
 * queues.
 */
export const REQUEST_MS_MAX = 30 * 60_000;
/** Maximum time of a non-streaming answer: OpenAI's clients wait for ten minutes and then retry. */
export const NON_STREAMING_MS_MAX = 9.5 * 60_000;

export type RequestDeadline = {
  /** Aborted when the time is up. Its reason is the error for the caller. */
  signal: AbortSignal;
  /** True if the time is up because the model server stalled, or because this server stops. */
  isOurs: () => boolean;
  /**
   * Reports progress of the model server: it accepted the request, read a part of the prompt, or made a token
   * or a step.
   */
  progress: () => void;
  /** Stops the stall timer while the model server has nothing to do for the request. */
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

/**
 * Creates a deadline for a request. It expires after the total time, if the model server stalls, or on
 * `closing`.
 */
export function requestDeadline(
  modelName: string,
  kind: keyof typeof WORDS,
  { closing, inAllMs = REQUEST_MS_MAX }: { closing?: AbortSignal; inAllMs?: number } = {},
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
  // Remove the listener when the request ends, because `closing` lives as long as the process (see
  // linkSignals).
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
