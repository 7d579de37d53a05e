import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../lib/api/api-error.ts';
import { reportFailure } from '../lib/error-reports/report-error.ts';
import { amountsInCurrency, insufficientBalance } from '../lib/format/currency.ts';
import { goTo } from '../lib/navigation.ts';
import { loadToaster } from './toaster-loader.ts';

/** Ids that may still be visible. */
const shown = new Set<string>();

/** Shows toasts. Loads the library on first use. */
export const notify = {
  success: (title: string, options?: Options) => void show('success', title, options),
  info: (title: string, options?: Options) => void show('info', title, options),
  warning: (title: string, options?: Options) => void show('warning', title, options),
  failure: (title: string, options?: Options) => void show('error', title, options),

  /** Dismisses the toast with this id. */
  dismiss(id: string): void {
    if (shown.delete(id)) void loadToaster().then((toast) => toast.dismiss(id));
  },
};

declare module '@tanstack/react-query' {
  interface Register {
    mutationMeta: FailureOptions;
  }
}

type Action = { label: string; onClick: () => void };

type Options = {
  description?: string;
  action?: Action;
  durationMs?: number;
  /** Replaces the toast with the same id. */
  id?: string | undefined;
};

/** Returns the error message, with amounts in the display currency. */
export function errorMessage(error: unknown): string {
  if (
    error instanceof ApiError &&
    error.code === 'insufficient_funds' &&
    error.requiredAmount &&
    error.availableAmount
  ) {
    return insufficientBalance(error.requiredAmount, error.availableAmount);
  }
  const sentence = error instanceof Error ? amountsInCurrency(error.message) : '';
  return sentence || 'Please try again';
}

async function show(
  kind: 'success' | 'info' | 'warning' | 'error',
  title: string,
  options: Options = {},
): Promise<void> {
  if (options.id) shown.add(options.id);
  const toast = await loadToaster();
  const { id, description, action, durationMs: duration } = options;
  // Sonner merges a toast with an earlier one of the same id: only keys that are present overwrite it.
  toast[kind](title, { ...(id && { id }), description, action, duration });
}

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
