import { expect, test } from 'vitest';
import { findBrokenReferences } from './find-broken-references.ts';

const repository = {
  exists: (path: string) => path === 'web/a.ts',
  read: (path: string) => (path === 'web/a.test.ts' ? "test('bakes bread', () => {})" : null),
};
const find = (row: string) =>
  findBrokenReferences(`| Line | Where | Test | |\n|---|---|---|---|\n${row}`, repository);

test('a row whose file and test are there is fine, and so is one that comes later', () => {
  expect(find('| Bread | `web/a.ts` | `web/a.test.ts: bakes bread` | |')).toEqual([]);
  expect(find('| Films | | | comes with videos |')).toEqual([]);
});

test('a file, a test file or a test that is gone is named with its line', () => {
  expect(
    find('| Bread | `web/b.ts` | `web/a.test.ts: burns bread`, `web/c.test.ts: x`, `web/a.test.ts` | |'),
  ).toEqual([
    'docs/specification.md:3: there is no web/b.ts',
    "docs/specification.md:3: web/a.test.ts has no test 'burns bread'",
    "docs/specification.md:3: web/c.test.ts has no test 'x'",
    "docs/specification.md:3: web/a.test.ts has no test ''",
  ]);
});
