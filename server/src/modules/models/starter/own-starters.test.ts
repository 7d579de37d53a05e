import path from 'node:path';
import { expect, test } from 'vitest';
import { testServer } from '../../../testing/test-server.ts';
import { OWN_STARTERS } from './own-starters.ts';
import { registerOwnStarters } from './register-starters.ts';

test('OWN_STARTERS lists the starters that the program registers', async () => {
  const { services } = await testServer();
  const files = [{ path: 'README.md', localPath: path.join(import.meta.dirname, 'own-starters.ts') }];
  const register = registerOwnStarters(services);
  await register.language(files);
  await register.embedding(files);
  for (const name of ['paris', 'kontext', 'wan'] as const) await register.image(name, files);
  const rows = await services.db
    .selectFrom('assets')
    .select('starter_slug')
    .where('starter_slug', 'is not', null)
    .execute();
  expect(new Set(rows.map((row) => row.starter_slug))).toEqual(new Set(OWN_STARTERS));
});
