import { expect, test } from 'vitest';
import { findBrokenReferences } from './find-broken-references.ts';

const texts = new Map([
  ['web/a.ts', 'say(`The bread is ready.`, `${count} loaves are burnt`)'],
  ['web/a.test.ts', "test('bakes bread', () => {})"],
  [
    'web/d.test.ts',
    `it('bread rises', () => expect('bread is there'));
test.each([
  ['rye, rising', 1],
])('%s rises', () => {
  // It is not baked.
  expect('bread is there').toBe(it('soured'));
});`,
  ],
  ['web/b.test.ts', "test('says so', () => expect('The bread is ready.', '2 loaves are burnt'))"],
]);
const repository = {
  exists: (path: string) => ['web/a.ts', 'web/c.ts', 'web'].includes(path),
  read: (path: string) => texts.get(path) ?? null,
};
const find = (row: string) =>
  findBrokenReferences(`| Line | Where | Test | |\n|---|---|---|---|\n${row}`, repository, [
    'The bread is ready.',
    '{loaves} loaves are burnt',
  ]);

test('accepts a row whose file and test exist, and a row for a later version', () => {
  expect(find('| Bread | `web/a.ts` | `web/a.test.ts: bakes bread` | |')).toEqual([]);
  expect(find('| Films | | | comes with videos |')).toEqual([]);
});

test('names a missing file, test file or test with its line', () => {
  expect(
    find('| Bread | `web/b.ts` | `web/a.test.ts: burns bread`, `web/c.test.ts: x`, `web/a.test.ts` | |'),
  ).toEqual([
    'docs/specification.md:3: there is no web/b.ts',
    "docs/specification.md:3: web/a.test.ts has no test 'burns bread'",
    "docs/specification.md:3: web/c.test.ts has no test 'x'",
    "docs/specification.md:3: web/a.test.ts has no test ''",
  ]);
});

test.each(['bread rises', '%s rises', 'rye, rising'])('a test is named by its title: %s', (title) => {
  expect(find(`| Bread | | \`web/d.test.ts: ${title}\` | |`)).toEqual([]);
});

test.each(['bread', 'bread is there', 'is not baked'])(
  'a partial title does not name a test: %s',
  (title) => {
    expect(find(`| Bread | | \`web/d.test.ts: ${title}\` | |`)).toHaveLength(1);
  },
);

test("a quoted sentence must occur in one of the row's files and in one of its tests", () => {
  const said = "'The bread is ready', '{loaves} loaves are burnt'";
  expect(find(`| ${said} | \`web/a.ts\` | \`web/b.test.ts: says so\` | |`)).toEqual([]);
  expect(find(`| ${said} | \`web\` | \`web/b.test.ts: says so\` | |`)).toEqual([]);
  expect(find("| 'The bread is ready' | `web/c.ts` | `web/a.test.ts: bakes bread` | |")).toEqual([
    "docs/specification.md:3: 'The bread is ready.' stands in none of its files",
    "docs/specification.md:3: 'The bread is ready.' stands in none of its tests",
  ]);
});
