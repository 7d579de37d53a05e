import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

type Operation = { operationId?: string; responses?: Record<string, { content?: object }> };
type Document = { paths: Record<string, Record<string, Operation>> };

test('each operation of the OpenAPI document has the name of its endpoint, so that clients can be generated', async () => {
  const file = new URL('../../contract/openapi.json', import.meta.url);
  const { paths } = JSON.parse(await readFile(file, 'utf8')) as Document;
  const nameless = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { operationId }]) => !operationId && !path.startsWith('/api/auth/'))
      .map(([method]) => `${method} ${path}`),
  );
  expect(nameless).toEqual([]);
});

test('each operation that answers says with what, so that clients know whether there is something to read', async () => {
  const file = new URL('../../contract/openapi.json', import.meta.url);
  const { paths } = JSON.parse(await readFile(file, 'utf8')) as Document;
  const unsaid = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { responses }]) => responses?.['200'] && !responses['200'].content)
      .map(([method]) => `${method} ${path}`),
  );
  expect(unsaid.filter((operation) => !operation.includes(' /api/auth/'))).toEqual([]);
});
