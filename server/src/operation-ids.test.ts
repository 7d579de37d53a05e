import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { nameSchemas } from './operation-ids.ts';

type Operation = {
  operationId?: string;
  parameters?: { name: string; in: string }[];
  responses?: Record<string, { content?: Record<string, { schema?: object }> }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};

const text = await readFile(new URL('../../contract/openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text) as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ line: `${method} ${path}`, path, operation })),
);

test('each operation of the OpenAPI document has a unique operation id', () => {
  const ids = operations.map(({ operation: { operationId = '' } }) => operationId.toLowerCase());
  expect(ids.filter((id, index) => id === '' || ids.indexOf(id) !== index)).toEqual([]);
});

test('each operation of the OpenAPI document describes its success and its errors', () => {
  const lines = operations
    .filter(({ operation: { responses = {} } }) => {
      const { default: error, ...answers } = responses;
      return !error || Object.keys(answers).length === 0 || (answers[200] && !answers[200].content);
    })
    .map(({ line }) => line);
  expect(lines).toEqual([]);
});

test('each JSON answer of the OpenAPI document has a schema', () => {
  const lines = operations
    .filter(({ operation: { responses = {} } }) =>
      Object.values(responses).some(({ content }) => {
        const json = content?.['application/json'];
        return json && Object.keys(json.schema ?? {}).length === 0;
      }),
    )
    .map(({ line }) => line);
  expect(lines).toEqual([]);
});

test('the OpenAPI document defines each object only once', () => {
  const seen = new Set<string>();
  const repeated: string[] = [];
  const find = (value: unknown, where: string): void => {
    // Objects whose fields are listed together with the file of an upload.
    if (typeof value !== 'object' || value === null || where.endsWith('multipart/form-data')) return;
    const { description: _, default: __, ...schema } = value as Record<string, unknown>;
    const { properties } = schema;
    if (typeof properties === 'object' && properties !== null && Object.keys(properties).length > 1) {
      const json = JSON.stringify(schema);
      if (seen.has(json)) repeated.push(where);
      seen.add(json);
    }
    for (const [name, part] of Object.entries(value)) find(part, `${where} ${name}`);
  };
  find(document, '');
  expect(repeated, 'Export the schema from the contract, and refer to it').toEqual([]);
});

test('named schemas of the OpenAPI document are in use and have valid names', () => {
  const used = new Set([...text.matchAll(/"#\/components\/schemas\/(.*?)"/g)].map(([, name]) => name));
  const names = Object.keys(document.components.schemas);
  expect(names.filter((name) => !used.has(name) || !/^[A-Z][A-Za-z0-9]*$/.test(name))).toEqual([]);
  expect(hasClash(names)).toBe(false);
  expect(names).toEqual(expect.arrayContaining(['Asset', 'Run', 'Deployment', 'Generation', 'ErrorBody']));
});

test('no two schemas of the contract have the same name', () => {
  expect(nameSchemas).not.toThrow();
});

test('the OpenAPI document has no missing references, undeclared path parameters or clashing names', () => {
  const faults: string[] = [];
  JSON.parse(text, (_key, value) => {
    if (value?.$ref && !at(document, value.$ref)) faults.push(`dangling ${value.$ref}`);
    if (Array.isArray(value?.enum) && hasClash(value.enum)) faults.push(`enum ${value.enum}`);
    return value;
  });
  for (const {
    line,
    path,
    operation: { parameters = [] },
  } of operations) {
    const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
    const named = [...path.matchAll(/\{(.*?)\}/g)].map(([, name = '']) => name);
    if (named.some((name) => !declared.includes(name) || !/^\w+$/.test(name))) faults.push(`path of ${line}`);
    if (hasClash(parameters.map(({ name, in: place }) => `${place} ${name}`)))
      faults.push(`parameters of ${line}`);
  }
  expect(faults).toEqual([]);
});

function at(whole: object, reference: string): unknown {
  const parts = reference.split('/').slice(1);
  return parts.reduce<unknown>(
    (found, part) => (found as Record<string, unknown> | undefined)?.[part],
    whole,
  );
}

/** True if two names become equal once a generator removes case and punctuation. */
function hasClash(names: unknown[]): boolean {
  return new Set(names.map((name) => String(name).toUpperCase().replace(/\W+$/, ''))).size < names.length;
}
