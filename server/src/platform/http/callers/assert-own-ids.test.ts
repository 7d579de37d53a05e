import type { Endpoint } from '@bakehouse/contract/endpoint';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { operationIds } from '../../../operation-ids.ts';
import { assertOwnIds } from './assert-own-ids.ts';

type Schema = z.core.JSONSchema.JSONSchema;

/** Returns the paths of all schema fields that are named like a user id. */
function pathsIn(schema: Schema | boolean | undefined): string[][] {
  if (typeof schema !== 'object') return [];
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, value]) => [
    ...(/^user_?id$/i.test(name) ? [[name]] : []),
    ...pathsIn(value as Schema).map((path) => [name, ...path]),
  ]);
  const parts = [...(schema.anyOf ?? []), ...(schema.allOf ?? []), ...(schema.oneOf ?? [])];
  return [...own, ...parts.flatMap((part) => pathsIn(part))];
}

const place = (path: string[], value: string): unknown =>
  path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);

const byUsers = [...operationIds.keys()].filter(({ access }) => access !== 'public' && access !== 'workload');
const cases = byUsers.flatMap((endpoint: Endpoint) =>
  (['params', 'query', 'body'] as const).flatMap((part) => {
    const schema = endpoint[part];
    if (!schema) return [];
    const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    return pathsIn(json as Schema).map((path) => ({
      line: `${endpoint.method} ${endpoint.path}`,
      part,
      path,
    }));
  }),
);

test('every user id in a call is compared with the caller', () => {
  expect(cases.length).toBeGreaterThan(40);
  const open = cases.filter(({ part, path }) => {
    assertOwnIds({ [part]: place(path, 'ada') }, 'ada');
    try {
      assertOwnIds({ [part]: place(path, 'eve') }, 'ada');
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'forbidden', param: path.join('.') });
      return false;
    }
  });
  expect(open).toEqual([]);
});

test('the owner of a list is compared too, with or without the dollar of the Python client', () => {
  for (const owner of ['ada', '$ada']) assertOwnIds({ query: { owner } }, 'ada');
  expect(() => assertOwnIds({ query: { owner: '$eve' } }, 'ada')).toThrow('This belongs to another user');
});
