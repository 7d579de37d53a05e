import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../lib/api/api-error.ts';
import { reportFailure } from '../lib/error-reports/report-error.ts';
import { goTo } from '../lib/navigation.ts';
import { errorMessage, notify } from './notify.ts';

/** How a failed action is reported, where its own sentence alone is not it. A mutation names it in its `meta`. */
export type FailureOptions = {
  /** What was to be paid: 'Purchase Fine-tune Credits'. */
  product?: string;
  /** Before the sentence: 'Termination failed: '. */
  prefix?: string;
  /** In place of the sentence, which then stands under it. */
  title?: string;
  /** Takes the place of the toast with the same id. */
  toastId?: string;
  /** The form or dialog shows the error itself: always, or this one. */
  inPlace?: boolean | ((error: unknown) => boolean);
};

declare module '@tanstack/react-query' {
  interface Register {
    mutationMeta: FailureOptions;
  }
}

/**
 * The one place for what any call can be answered with. Too little credit gets the amounts and the way to more,
 * wherever it happens; a server that is away is reported once, however many calls it has failed.
 */
export function notifyFailure(error: unknown, words: FailureOptions = {}): void {
  const { product, prefix = '', title, toastId: id, inPlace = false } = words;
  const sentence = errorMessage(error);
  const code = error instanceof ApiError ? error.code : null;
  if (code === 'insufficient_funds') {
    notify.failure(`${prefix}${sentence}`, {
      id,
      durationMs: 8_000,
      action: {
        label: product ? `Purchase ${product} Credits` : 'Purchase Credits',
        onClick: () => goTo('/buy-bagels'),
      },
    });
    return;
  }
  if (typeof inPlace === 'function' ? inPlace(error) : inPlace) return;
  if (code === 'network' || code === 'lookup') notify.failure(sentence, { id: id ?? 'server-away' });
  else if (title) notify.failure(title, { id, description: sentence });
  else notify.failure(`${prefix}${sentence}`, { id });
}

/** Notifies of every failed mutation, with the words of its `meta`, and reports it. Called once, at start. */
export function notifyFailures(client: QueryClient): void {
  client.getMutationCache().config.onError = (error, _variables, _result, mutation) => {
    notifyFailure(error, mutation.meta);
    reportFailure(error, mutation.options.mutationKey);
  };
}
