import { expect, test } from 'vitest';
import { parseRepositoryPath } from './repository-location.ts';

const sha = 'a'.repeat(40);

test.each([
  ['ada/loaf', {}],
  ['ada/loaf/', {}],
  ['ada/loaf/settings', {}],
  ['ada/loaf/tree/main', { tab: 'files' }],
  ['ada/loaf/tree/main/data', { tab: 'files' }],
  [`ada/loaf/tree/${sha}/data/deep`, { tab: 'history', commit: sha, folder: 'data/deep' }],
  ['ada/loaf/tree/v1', { tab: 'history', commit: 'v1' }],
  ['ada/loaf/blob/main/data/a.csv', { tab: 'rows', file: 'data/a.csv' }],
  ['ada/loaf/blob/main/README.md', { tab: 'card' }],
  ['ada/loaf/blob/main/weights.bin', { tab: 'files' }],
  [`ada/loaf/blob/${sha}/data/a.csv`, { tab: 'history', commit: sha, folder: 'data' }],
  [`ada/loaf/commit/${sha}`, { tab: 'history', commit: sha }],
  ['ada/loaf/commits/main', { tab: 'history' }],
])('%s opens its place on the page', (path, search) => {
  expect(parseRepositoryPath('datasets', path)).toEqual({ namespace: 'ada', name: 'loaf', search });
});

test('a model has no rows, and an incomplete name is invalid', () => {
  expect(parseRepositoryPath('models', 'ada/loaf/blob/main/a.csv')?.search).toEqual({ tab: 'files' });
  expect(parseRepositoryPath('models', 'ada')).toBeNull();
});
