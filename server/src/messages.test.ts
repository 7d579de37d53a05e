import type { FastifyRouteSchemaDef } from 'fastify/types/schema.js';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { toInvalidRequest } from './platform/http/validation/invalid-request.ts';
import { contractEndpoints } from './testing/access/contract-endpoints.ts';

/* Checks the error message of every field in the contract for a value of the wrong type. */

const strange = [
  null,
  true,
  -1,
  1.5,
  1e300,
  '',
  'x',
  'x'.repeat(5_000),
  [],
  [null],
  ['x', 'x'],
  {},
  { x: {} },
];

type Def = {
  innerType?: z.ZodType;
  in?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
  options?: z.ZodType[];
};
type Build = (value: unknown) => unknown;

/** Returns, for each position in a schema, a function that creates an input with a value only there. */
function placesOf(schema: z.ZodType, build: Build = (value) => value): Build[] {
  const { innerType, in: input, element, valueType, options = [] } = schema.def as Def;
  const same = [innerType, input, ...options].filter((one) => one !== undefined);
  return [
    build,
    ...same.flatMap((one) => placesOf(one, build).slice(1)),
    ...(element ? placesOf(element, (value) => build([value])) : []),
    ...(valueType ? placesOf(valueType, (value) => build({ x: value })) : []),
    ...(schema instanceof z.ZodObject
      ? Object.entries(schema.shape).flatMap(([name, field]) =>
          placesOf(field as z.ZodType, (value) => build({ [name]: value })),
        )
      : []),
  ];
}

test('no message only says that a value is invalid', async () => {
  const endpoints = await contractEndpoints();
  const vague = new Set<string>();
  for (const { method, path, params, query, body } of endpoints) {
    for (const schema of [params, query, body]) {
      if (!schema) continue;
      const validate = validatorCompiler({ schema } as FastifyRouteSchemaDef<z.ZodType>);
      for (const build of placesOf(schema)) {
        for (const value of [...strange, undefined]) {
          const { error } = validate(build(value)) as { error?: { validation: [] } | [] };
          if (!error) continue;
          const { publicMessage } = toInvalidRequest({
            validation: Array.isArray(error) ? error : error.validation,
          });
          if (/Invalid|Unrecognized|undefined|expected|received|object Object/.test(publicMessage))
            vague.add(`${method} ${path}: ${publicMessage.slice(0, 100)}`);
        }
      }
    }
  }
  expect([...vague]).toEqual([]);
});
