import { toast } from 'sonner';
import { ApiError } from '../lib/api/api-error.ts';
import { amountsInCurrency } from '../lib/format/currency.ts';
import { insufficientBalance } from '../lib/format/insufficient-balance.ts';

type Action = { label: string; onClick: () => void };
type Options = {
  description?: string;
  action?: Action;
  durationMs?: number;
  /** Replaces the toast with the same id. */
  id?: string | undefined;
};

/** Shows toasts. */
export const notify = {
  success: (title: string, options?: Options) => show('success', title, options),
  info: (title: string, options?: Options) => show('info', title, options),
  warning: (title: string, options?: Options) => show('warning', title, options),
  failure: (title: string, options?: Options) => show('error', title, options),

  /** Dismisses the toast with this id. */
  dismiss: (id: string) => void toast.dismiss(id),
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

function show(kind: 'success' | 'info' | 'warning' | 'error', title: string, options: Options = {}): void {
  const { id, description, action, durationMs: duration } = options;
  // Sonner merges a toast with an earlier one of the same id: only keys that are present overwrite it.
  toast[kind](title, { ...(id && { id }), description, action, duration });
}
