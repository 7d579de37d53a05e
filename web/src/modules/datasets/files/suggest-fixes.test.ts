import { expect, test } from 'vitest';
import { suggestFixes } from './suggest-fixes.ts';

/** Fixtures with every problem that the runtime's reader reports. */
const fixtures = import.meta.glob<{ dropped?: [number, string][] }[]>(
  '../../../../../runtime/tests/data/fixtures/files.json',
  { eager: true, import: 'default' },
);
const alike = Object.values(fixtures).flat();
const reasons = [...new Set(alike.flatMap(({ dropped = [] }) => dropped.map(([, reason]) => reason)))];

test.each(reasons)('suggests a fix for: %s', (reason) => {
  expect(suggestFixes([reason])).toHaveLength(1);
});

test('suggests each fix once', () => {
  expect(suggestFixes(['1 field instead of 2', '3 fields instead of 2', 'something new'])).toHaveLength(1);
  expect(reasons.length).toBeGreaterThan(5);
});
