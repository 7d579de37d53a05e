import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../testing/test-database.ts';
import { toJson } from './database.ts';
import { findUnstorable, storableJson, storableText } from './storable-text.ts';

const { db } = await testDatabase();
const half = '\ud800';

test('text that PostgreSQL rejects can be stored once it is cleaned', async () => {
  const broken = { 'na\0me': ['a\0b', { deep: `x${half}` }], n: 1, none: null };
  const store = (value: object) => sql`select ${toJson(value)}::jsonb as value`.execute(db);
  await expect(store(broken)).rejects.toMatchObject({ code: '22P05' });
  const clean = { name: ['ab', { deep: 'x\ufffd' }], n: 1, none: null };
  expect(storableJson(broken)).toEqual(clean);
  expect((await store(storableJson(broken))).rows).toEqual([{ value: clean }]);

  const asText = (text: string) => sql`select ${text}::text as text`.execute(db);
  await expect(asText('a\0b')).rejects.toMatchObject({ code: '22021' });
  expect((await asText(storableText(`a\0b😀${half}`))).rows).toEqual([{ text: 'ab😀\ufffd' }]);
});

test.each<[unknown, (string | number)[] | null]>([
  ['a', null],
  [null, null],
  [{ a: 'plain', b: ['😀', 1, null, { c: true }] }, null],
  [{ a: 'x\0' }, ['a']],
  [{ messages: [{ content: 'fine' }, { content: half }] }, ['messages', 1, 'content']],
  [{ a: { 'b\0c': 1 } }, ['a', 'bc']],
])('in %j the text that cannot be stored is at %j', (value, path) => {
  expect(findUnstorable(value)).toEqual(path);
});

test('searches a value of any depth', () => {
  const depth = 200_000;
  const nested: unknown = JSON.parse(`${'['.repeat(depth)}"\\u0000"${']'.repeat(depth)}`);
  expect(findUnstorable(nested)).toHaveLength(depth);
});
