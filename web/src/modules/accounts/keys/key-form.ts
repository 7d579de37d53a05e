import type { ApiKey } from '@bakehouse/contract/api-keys';
import type { KeyScope } from '@bakehouse/contract/endpoint';
import { type BudgetPeriod, KEY_NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import type { Currency } from '@bakehouse/contract/money';
import { endOfDay, localDay } from '../../../lib/format/format-time.ts';
import { amountInBgl, amountProblem, typedAmount } from '../../../lib/format/typed-amount.ts';
import { nameProblem } from '../../../ui/text-problem.ts';

/** Values of an API key's form: the budget as typed, in the form's initial currency. */
export type KeyForm = {
  name: string;
  /** The scope names joined by spaces, as one choice. */
  scopes: string;
  /** The last valid day; empty if it does not expire. */
  lastDay: string;
  /** Empty for a key without a budget. */
  budget: string;
  period: BudgetPeriod;
};
export type KeyProblems = Partial<Record<'name' | 'lastDay' | 'budget', string>>;

/** All settings of an API key. */
export type KeySettings = {
  name: string;
  scopes: KeyScope[];
  expires_at: string | null;
  budget: { amount: string; period: BudgetPeriod } | null;
};

/** The scopes to choose from, with their labels. */
export const scopeChoices = [
  {
    value: 'everything',
    label: 'Everything',
    description: 'Everything you can do, except manage API keys',
  },
  {
    value: 'inference',
    label: 'Use models',
    description: 'Use models; cannot read or change your data',
  },
  {
    value: 'read',
    label: 'Read',
    description: 'Read your data and balance; cannot change or spend anything',
  },
  {
    value: 'inference read',
    label: 'Use models and read data',
    description: 'Use models, and read your data and balance',
  },
] as const;

/** Returns the choice for the scopes of a key. */
export function scopeChoice(scopes: readonly KeyScope[]): string {
  return scopes.toSorted().join(' ');
}

/** Returns the form's initial values: of an existing key, or empty. */
export function keyForm(key: ApiKey | null, currency: Currency): KeyForm {
  return {
    name: key?.name ?? '',
    scopes: key ? scopeChoice(key.scopes) : 'everything',
    lastDay: key?.expires_at ? localDay(new Date(key.expires_at)) : '',
    budget: key?.budget ? typedAmount(key.budget.amount, currency) : '',
    period: key?.budget?.period ?? 'month',
  };
}

/** Returns the problems of name and budget. A key's existing budget is always valid. */
export function keyProblems(form: KeyForm, key: ApiKey | null, currency: Currency): KeyProblems {
  const before = keyForm(key, currency);
  const isNewBudget = form.budget !== before.budget && form.budget !== '';
  const budget = isNewBudget ? amountProblem(form.budget, currency, 'Budget') : undefined;
  const name = nameProblem(form.name, KEY_NAME_LENGTH_MAX);
  return {
    ...(name && { name }),
    ...(budget && { budget }),
  };
}

/** Returns the changed settings; for a new key, the chosen ones. */
export function keyChanges(form: KeyForm, key: ApiKey | null, currency: Currency): Partial<KeySettings> {
  const before = keyForm(key, currency);
  const differs = (...fields: (keyof KeyForm)[]) => fields.some((field) => form[field] !== before[field]);
  // An unchanged amount may have more decimals than can be typed.
  const amount = differs('budget') ? amountInBgl(form.budget, currency) : (key?.budget?.amount ?? null);
  return {
    ...(differs('name') && { name: form.name.trim() }),
    ...(differs('scopes') && { scopes: form.scopes.split(' ') as KeyScope[] }),
    ...(differs('lastDay') && {
      expires_at: form.lastDay === '' ? null : endOfDay(form.lastDay).toISOString(),
    }),
    ...(differs('budget', 'period') && { budget: amount === null ? null : { amount, period: form.period } }),
  };
}
