import { afterEach, expect, test } from 'vitest';
import { currencyChoice } from './currency.ts';
import { outcomeText } from './outcome-text.ts';

afterEach(() => currencyChoice.set('USD'));

test('shows why work ended and the charge in the display currency', () => {
  expect(outcomeText('Out of memory', '0')).toBe('Out of memory. You were not charged.');
  const reason = 'The run reached its spending limit.';
  expect(outcomeText(reason, '5')).toBe(`${reason} You were charged $0.20.`);
  currencyChoice.set('BGL');
  expect(outcomeText(reason, '5')).toBe(`${reason} You were charged 5.00 BGL.`);
});

test('omits the charge until it is known', () => {
  expect(outcomeText('Out of memory.', null)).toBe('Out of memory.');
  expect(outcomeText('', null)).toBe('');
});
