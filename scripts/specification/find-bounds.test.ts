import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../root.ts';
import { type Bound, findBounds, type OpenApi, readBounds } from './find-bounds.ts';

const read = (file: string) => readFile(path.join(root, file), 'utf8');
const texts = (bounds: Bound[]) => bounds.map(({ name, max }) => `${name} ${max}`);

test('finds the bounds of the query and of any depth of the body, each only once', () => {
  const parts = { items: { properties: { batchSize: { anyOf: [{ maximum: 8 }, {}] } } }, maxItems: 3 };
  const body = { properties: { runs: parts, batch_size: { maximum: 8 }, at: { exclusiveMaximum: 5 } } };
  const operation = {
    parameters: [{ name: 'limit', schema: { maximum: 100 } }],
    requestBody: { content: { 'application/json': { schema: body } } },
  };
  const unbounded = { parameters: [{ name: 'offset', schema: { maximum: Number.MAX_SAFE_INTEGER } }] };
  expect(texts(findBounds({ paths: { '/a': { get: operation, put: operation, head: unbounded } } }))).toEqual(
    ['at 5', 'batch_size 8', 'limit 100', 'runs 3'],
  );
});

test('finds bounds in named schemas', () => {
  const content = {
    'application/json': { schema: { properties: { n: { $ref: '#/components/schemas/N' } } } },
  };
  const components = { schemas: { N: { maximum: 4 } } };
  const paths = { '/a': { post: { requestBody: { content } } } };
  expect(texts(findBounds({ paths, components }))).toEqual(['n 4']);
});

test('a page may list several numbers for one name, and several names for one number', () => {
  expect(texts(readBounds('| the pages (`limit`) | 100; 1,000 | why 7 |\n| `a`, `b` | 0.5 | |'))).toEqual([
    'limit 100',
    'limit 1000',
    'a 0.5',
    'b 0.5',
  ]);
});

test('the decision on upper bounds names exactly the bounds of the contract', async () => {
  const openApi = JSON.parse(await read('contract/openapi.json')) as OpenApi;
  const ofOthers = Object.entries(openApi.paths).filter(([at]) => !at.startsWith('/runtime/'));
  const named = texts(readBounds(await read('docs/decisions/numeric-upper-bounds.md')));
  expect(named.toSorted()).toEqual(
    texts(findBounds({ ...openApi, paths: Object.fromEntries(ofOthers) })).toSorted(),
  );
});
