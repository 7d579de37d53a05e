import type { ApiKey } from '@bakehouse/contract/api-keys';
import { expect, test } from 'vitest';
import { endOfDay } from '../../../lib/format/format-time.ts';
import { keyChanges, keyForm, keyProblems } from './key-form.ts';

const key: ApiKey = {
  id: 'k',
  name: 'Nightly',
  scopes: ['read', 'inference'],
  for_web_app: false,
  created_at: '2026-11-01T10:00:00.000Z',
  last_used_at: null,
  expires_at: endOfDay('2026-11-10').toISOString(),
  old_key_opens_until: null,
  revoked_at: null,
  budget: { amount: '0.1', period: 'month', spent: '0', held: '0', renews_at: null },
};
const empty = keyForm(null, 'USD');
const before = keyForm(key, 'USD');

test("a new key contains only chosen settings, with its budget in the header's currency", () => {
  expect(keyChanges({ ...empty, name: ' Nightly ' }, null, 'USD')).toEqual({ name: 'Nightly' });
  const full = { ...empty, name: 'n', scopes: 'inference read', lastDay: '2026-12-31', budget: '2.50' };
  expect(keyChanges(full, null, 'USD')).toEqual({
    name: 'n',
    scopes: ['inference', 'read'],
    expires_at: endOfDay('2026-12-31').toISOString(),
    budget: { amount: '62.5', period: 'month' },
  });
  expect(keyChanges(full, null, 'BGL').budget).toEqual({ amount: '2.5', period: 'month' });
});

test("the form starts with the key's settings, and saving it unchanged sends nothing", () => {
  expect(before).toEqual({
    name: 'Nightly',
    scopes: 'inference read',
    lastDay: '2026-11-10',
    budget: '0.004',
    period: 'month',
  });
  expect(keyChanges(before, key, 'USD')).toEqual({});
});

test('changing the period keeps a budget with more decimals than can be typed', () => {
  expect(keyChanges({ ...before, period: 'day' }, key, 'USD')).toEqual({
    budget: { amount: '0.1', period: 'day' },
  });
});

test('clearing expiry and budget removes them', () => {
  expect(keyChanges({ ...before, lastDay: '', budget: '' }, key, 'USD')).toEqual({
    expires_at: null,
    budget: null,
  });
});

test("reports problems, but not for the key's existing budget", () => {
  expect(keyProblems({ ...empty, name: ' ', budget: '0' }, null, 'USD')).toEqual({
    name: 'Name is required',
    budget: 'Budget must be greater than 0',
  });
  expect(keyProblems({ ...empty, name: 'n', budget: '0,02' }, null, 'USD')).toEqual({
    budget: 'Use only digits, and a point for decimals, e.g. 0.02',
  });
  expect(keyProblems({ ...empty, name: 'n'.repeat(101) }, null, 'USD')).toEqual({
    name: 'Name must have at most 100 characters',
  });
  expect(keyProblems(before, key, 'USD')).toEqual({});
});
