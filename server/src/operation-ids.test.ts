import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

type Document = { paths: Record<string, Record<string, { operationId?: string }>> };

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
