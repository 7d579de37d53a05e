import { expect, test } from 'vitest';
import { findUntestedValues } from './find-untested-values.ts';

const texts = new Map([
  [
    'web/a.test.ts',
    `test('rests for 8 minutes', () => expect(bake({ name: 'rye' })).toBe(480_000));
test.each([[12], [0.5]])('%i loaves', (n) => expect(n).toBe('It is ready'));
test('another', () => expect(30).toBe(1_280));`,
  ],
  ['web/b.test.tsx', "const cases = ['Bread', 7];"],
]);
const find = (row: string, section = '1. Bread') =>
  findUntestedValues(`## ${section}\n| Line | Where | Test | |\n|---|---|---|---|\n${row}`, {
    read: (path) => texts.get(path) ?? null,
  });

test.each([
  ['| Rests for 8 minutes | | `web/a.test.ts: rests for 8 minutes` | |'],
  ["| Bread: `name`, 'It is ready' | | `web/a.test.ts: rests for 8 minutes`, `web/a.test.ts: %i loaves` | |"],
  ['| 12 loaves of 0.5 kg | | `web/a.test.ts: %i loaves` | |'],
  ['| 7 breads, where the test is a row of a table | | `web/b.test.tsx: Bread` | |'],
  ['| 99 films | | | comes with films |'],
])('accepts a row whose values occur in its tests: %s', (row) => {
  expect(find(row)).toEqual([]);
});

test('names a value that occurs in none of its tests, or only in a title, with its line', () => {
  const at = 'docs/specification.md:4:';
  expect(find("| 30 loaves: `size`, 'Burnt' | | `web/a.test.ts: rests for 8 minutes` | |")).toEqual([
    `${at} size stands in none of its tests`,
    `${at} 30 stands in none of its tests`,
    `${at} 'Burnt' stands in none of its tests`,
  ]);
  expect(find('| 8 loaves | | `web/a.test.ts: %i loaves` | |')).toHaveLength(1);
  expect(find('| 5 kg | | `web/a.test.ts: %i loaves` | |')).toHaveLength(1);
  expect(find('| 480 s | | `web/a.test.ts: another` | |')).toHaveLength(1);
});

test('a journey alone is not enough to test an entity', () => {
  const row = '| Bread | | `e2e/bread.test.ts: bread is baked` | |';
  expect(find(row)).toEqual([]);
  expect(find(row, '3. Entities')).toEqual([
    'docs/specification.md:4: an entity needs a test of its call, not journeys alone',
  ]);
});
