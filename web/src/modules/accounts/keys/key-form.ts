import type { ApiKey } from '@bakehouse/contract/api-keys';
import type { KeyScope } from '@bakehouse/contract/endpoint';
import { type BudgetPeriod, KEY_NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import type { Currency } from '@bakehouse/contract/money';
import { endOfDay, localDay } from '../../../lib/format/format-time.ts';
import { amountInBgl, amountProblem, typedAmount } from '../../../lib/format/typed-amount.ts';
import { nameProblem } from '../../../ui/text-problem.ts';

/** What the form of an API key holds: the budget as it was typed, in the currency that the form began with. */
export type KeyForm = {
  name: string;
  /** The scopes by their names, with a space between them: one choice. */
  scopes: string;
  /** The last day on which it works; empty for one without end. */
  lastDay: string;
  /** Empty for a key without a budget. */
  budget: string;
  period: BudgetPeriod;
};
export type KeyProblems = Partial<Record<'name' | 'lastDay' | 'budget', string>>;

/** All that the server is sent of an API key. */
export type KeySettings = {
  name: string;
  scopes: KeyScope[];
  expires_at: string | null;
  budget: { amount: string; period: BudgetPeriod } | null;
};

/** What a key may do, in the words of the form. */
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
  { value: 'inference read', label: 'Use models and read', description: 'Both of these, and nothing else' },
] as const;

/** The choice that the scopes of a key are. */
export function scopeChoice(scopes: readonly KeyScope[]): string {
  return scopes.toSorted().join(' ');
}

/** The form as it begins: of a key that exists, or empty. */
export function keyForm(key: ApiKey | null, currency: Currency): KeyForm {
  return {
    name: key?.name ?? '',
    scopes: key ? scopeChoice(key.scopes) : 'everything',
    lastDay: key?.expires_at ? localDay(new Date(key.expires_at)) : '',
    budget: key?.budget ? typedAmount(key.budget.amount, currency) : '',
    period: key?.budget?.period ?? 'month',
  };
}

/** What is wrong with name and budget, in the words that stand under them. A budget that the key already has is never wrong. */
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

/** The settings that the form changes of the key; for a new key those that it names. */
export function keyChanges(form: KeyForm, key: ApiKey | null, currency: Currency): Partial<KeySettings> {
  const before = keyForm(key, currency);
  const differs = (...fields: (keyof KeyForm)[]) => fields.some((field) => form[field] !== before[field]);
  // What was not typed here may have more decimals than can be typed.
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
