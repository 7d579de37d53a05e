import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

type Operation = {
  operationId?: string;
  parameters?: { name: string; in: string }[];
  responses?: Record<string, { content?: object }>;
};
type Document = { paths: Record<string, Record<string, Operation>> };

test('each operation of the OpenAPI document is named after its endpoint', async () => {
  const file = new URL('../../contract/openapi.json', import.meta.url);
  const { paths } = JSON.parse(await readFile(file, 'utf8')) as Document;
  const nameless = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { operationId }]) => !operationId && !path.startsWith('/api/auth/'))
      .map(([method]) => `${method} ${path}`),
  );
  expect(nameless).toEqual([]);
});

test('each operation with a response documents its content', async () => {
  const file = new URL('../../contract/openapi.json', import.meta.url);
  const { paths } = JSON.parse(await readFile(file, 'utf8')) as Document;
  const unsaid = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { responses }]) => responses?.['200'] && !responses['200'].content)
      .map(([method]) => `${method} ${path}`),
  );
  expect(unsaid.filter((operation) => !operation.includes(' /api/auth/'))).toEqual([]);
});

test('the OpenAPI document has no dangling references, undeclared path parameters or clashing names', async () => {
  const text = await readFile(new URL('../../contract/openapi.json', import.meta.url), 'utf8');
  const document = JSON.parse(text) as Document;
  const faults: string[] = [];
  JSON.parse(text, (_key, value) => {
    if (value?.$ref && !at(document, value.$ref)) faults.push(`dangling ${value.$ref}`);
    if (Array.isArray(value?.enum) && hasClash(value.enum)) faults.push(`enum ${value.enum}`);
    return value;
  });
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, { parameters = [] }] of Object.entries(operations)) {
      const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      const named = [...path.matchAll(/\{(.*?)\}/g)].map(([, name = '']) => name);
      if (named.some((name) => !declared.includes(name) || !/^\w+$/.test(name)))
        faults.push(`path of ${method} ${path}`);
      if (hasClash(parameters.map(({ name, in: place }) => `${place} ${name}`)))
        faults.push(`parameters of ${method} ${path}`);
    }
  expect(faults).toEqual([]);
});

function at(document: object, reference: string): unknown {
  const parts = reference.split('/').slice(1);
  return parts.reduce<unknown>(
    (found, part) => (found as Record<string, unknown> | undefined)?.[part],
    document,
  );
}

/** True if two names collide once a generator drops case and punctuation. */
function hasClash(names: unknown[]): boolean {
  return new Set(names.map((name) => String(name).toUpperCase().replace(/\W+$/, ''))).size < names.length;
}
