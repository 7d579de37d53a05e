import { ApiError } from '../lib/api/api-error.ts';
import { showUnrounded } from '../lib/format/currency.ts';
import { formatDay } from '../lib/format/format-time.ts';
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
  dismiss: (id: string) => withToasts((toast) => toast.dismiss(id)),
};

/** Returns the error message, with amounts in the display currency. */
export function errorMessage(error: unknown): string {
  const sentence = error instanceof ApiError ? messageWithAmounts(error) : null;
  return sentence ?? ((error instanceof Error && error.message) || 'Please try again');
}

/** Returns the message of an error whose data has amounts; otherwise null. */
function messageWithAmounts({ code, requiredAmount, availableAmount, data }: ApiError): string | null {
  const { template, amounts, budget } = data;
  if (code === 'insufficient_funds' && requiredAmount && availableAmount)
    return insufficientBalance(requiredAmount, availableAmount);
  if (budget) {
    const per = budget.period === 'total' ? 'in all' : `per ${budget.period}`;
    const renews = budget.renews_at && ` It renews on ${formatDay(new Date(budget.renews_at))}.`;
    return `The budget of the API key ‘${budget.key_name}’ (${showUnrounded(budget.amount)} ${per}) does not cover this.${renews ?? ''}`;
  }
  if (!template || !amounts) return null;
  return template.replace(/\{(\w+)\}/g, (_, name: string) => showUnrounded(amounts[name] ?? '0'));
}

function show(kind: 'success' | 'info' | 'warning' | 'error', title: string, options: Options = {}): void {
  const { id, description, action, durationMs: duration } = options;
  // Sonner merges a toast with an earlier one of the same id: only keys that are present overwrite it.
  withToasts((toast) => toast[kind](title, { ...(id && { id }), description, action, duration }));
}

/** The library loads after the first screen. Calls keep their order. */
function withToasts(use: (toast: typeof import('sonner').toast) => void): void {
  void import('sonner').then(({ toast }) => use(toast));
}
