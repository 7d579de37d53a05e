import { AppError } from '../../../platform/errors.ts';

/** Reading a part of a prompt, or writing a token, takes seconds on the slowest machine. */
const NO_TOKEN_MS_MAX = 3 * 60_000;
/** From its arrival to the last token, waiting included. */
const IN_ALL_MS_MAX = 30 * 60_000;

export type RequestDeadline = {
  /** Aborted, with the error for the caller as its reason, when the time is over. */
  signal: AbortSignal;
  /** The model server gets on: it took the request, read a part of the prompt or wrote a token. */
  progress: () => void;
  /** Nothing is expected of the model server any more, or not yet. */
  rest: () => void;
  stop: () => void;
};

/** How long a request may take in all, and how long its model server may stand still. */
export function requestDeadline(modelName: string): RequestDeadline {
  const over = new AbortController();
  const end = (sentence: string) =>
    over.abort(new AppError('timed_out', { publicMessage: `${modelName} ${sentence}` }));
  const inAll = setTimeout(
    () => end(`did not finish its answer within ${IN_ALL_MS_MAX / 60_000} minutes. Ask for less at a time`),
    IN_ALL_MS_MAX,
  );
  let still: NodeJS.Timeout | undefined;
  const rest = () => clearTimeout(still);
  return {
    signal: over.signal,
    progress: () => {
      rest();
      still = setTimeout(
        () => end(`wrote nothing for ${NO_TOKEN_MS_MAX / 60_000} minutes. Try again`),
        NO_TOKEN_MS_MAX,
      );
    },
    rest,
    stop: () => {
      rest();
      clearTimeout(inAll);
    },
  };
}
