import path from 'node:path';
import { expect, test } from 'vitest';
import { testServer } from '../../../testing/test-server.ts';
import { BUILT_IN_STARTERS } from './built-in-starters.ts';
import { registerBuiltInStarters } from './register-starters.ts';

test('BUILT_IN_STARTERS lists the starters that the program registers', async () => {
  const { services } = await testServer();
  const files = [{ path: 'README.md', localPath: path.join(import.meta.dirname, 'built-in-starters.ts') }];
  const register = registerBuiltInStarters(services);
  await register.language(files);
  await register.embedding(files);
  for (const name of ['paris', 'kontext', 'wan'] as const) await register.image(name, files);
  const rows = await services.db
    .selectFrom('assets')
    .select('starter_slug')
    .where('starter_slug', 'is not', null)
    .execute();
  expect(new Set(rows.map((row) => row.starter_slug))).toEqual(new Set(BUILT_IN_STARTERS));
});
