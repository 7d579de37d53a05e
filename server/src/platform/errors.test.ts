import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { conflict, invalidParam, modelUnavailable, notFound, unavailable } from './errors.ts';

test('factories set the code, the message and the details', () => {
  expect(notFound('Asset', 'asset_id')).toMatchObject({
    status: 404,
    publicMessage: 'Asset not found',
    param: 'asset_id',
  });
  expect(invalidParam('title', 'Too long')).toMatchObject({ status: 400, param: 'title' });
  expect(conflict('Taken', { param: 'name' })).toMatchObject({ code: 'conflict', shouldRetry: false });
  expect(unavailable('Busy', { retryAfterMs: 5 })).toMatchObject({ retryAfterMs: 5, shouldRetry: true });
  expect(modelUnavailable('bert stopped.').publicMessage).toBe('bert stopped. Try again');
});

test('modules create an error with the factory of its code', () => {
  const src = path.join(import.meta.dirname, '..');
  const read = (name: string) => readFileSync(path.join(src, name), 'utf8');
  const catalogue = read('platform/errors.ts').matchAll(/(?:factory|new AppError)\('(\w+)'/g);
  const codes = [...catalogue].map(([, code]) => code);
  expect(codes).toContain('conflict');
  const inline = new RegExp(`new AppError\\(\\s*'(${codes.join('|')})'`);
  const found = globSync('**/*.ts', { cwd: src, exclude: ['platform/errors.ts'] });
  expect(found.filter((name) => inline.test(read(name)))).toEqual([]);
});
