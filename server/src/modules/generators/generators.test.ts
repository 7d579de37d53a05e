import { generatorNames, listGenerators } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { expect, test } from 'vitest';
import { testServer } from '../../testing/test-server.ts';

test('anybody may ask which generators are served', async () => {
  const server = await testServer();
  const answer = await server.request(listGenerators, {});
  expect(answer.generators.map(({ name }) => name)).toEqual([...generatorNames]);
  expect(answer.generators.every((generator) => generator.served_by.length === 0)).toBe(true);
});

test('each generator has a form, and no two fields of it one name', () => {
  expect(Object.keys(generators)).toEqual([...generatorNames]);
  for (const { fields } of Object.values(generators)) {
    const names = fields.map(({ name }) => name);
    expect(new Set(['prompt', ...names]).size).toBe(names.length + 1);
  }
});
