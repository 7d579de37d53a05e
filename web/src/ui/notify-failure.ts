import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../lib/api/api-error.ts';
import { reportFailure } from '../lib/error-reports/report-error.ts';
import { goTo } from '../lib/navigation.ts';
import { errorMessage, notify } from './notify.ts';

/** Customizes how a failed action is reported. Mutations set it in their `meta`. */
export type FailureOptions = {
  /** Name of the purchase: 'Purchase Fine-tune Credits'. */
  product?: string;
  /** Prefix for the message: 'Termination failed: '. */
  prefix?: string;
  /** Toast title; the message becomes its description. */
  title?: string;
  /** Replaces the toast with the same id. */
  toastId?: string;
  /** The form or dialog shows the error itself: always, or for matching errors. */
  inPlace?: boolean | ((error: unknown) => boolean);
};

declare module '@tanstack/react-query' {
  interface Register {
    mutationMeta: FailureOptions;
  }
}

/**
 * Reports a failed call. Insufficient credit always shows the amounts and a link to add credits. An
 * unreachable server is reported once for all calls.
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

/** Reports every failed mutation, using its `meta`. Called once at startup. */
export function notifyFailures(client: QueryClient): void {
  client.getMutationCache().config.onError = (error, _variables, _result, mutation) => {
    notifyFailure(error, mutation.meta);
    reportFailure(error, mutation.options.mutationKey);
  };
}
