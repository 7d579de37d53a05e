import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { apiExamples, keyExample } from '../web/src/lib/api/api-examples.ts';

test.each([
  ['the first model that answers', undefined, ['/v1/models', '/v1/chat/completions'], 'crumb-expert'],
  ['a model by its name', 'rye-expert', ['/v1/chat/completions'], 'rye-expert'],
])('what is copied works as it is, the key, then curl: %s', async (_which, modelName, urls, model) => {
  const asked: { url: string; key: string; body: string }[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const key = request.headers.authorization ?? '';
      asked.push({ url: request.url ?? '', key, body: Buffer.concat(parts).toString() });
      response.end('{"object":"list","data":[{"id":"crumb-expert","object":"model"}]}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [curl] = apiExamples(origin, modelName);
  await promisify(execFile)('sh', ['-c', `${keyExample('secret')}\n${curl?.code}`]);
  server.close();
  expect(asked.map(({ url, key }) => [url, key])).toEqual(urls.map((url) => [url, 'Bearer secret']));
  expect(JSON.parse(asked.at(-1)?.body ?? '')).toMatchObject({ model });
});

test('each example asks the same of the model: by its name, or the first', () => {
  for (const { code } of apiExamples('https://bake.example', 'rye-expert')) {
    expect(code).toMatch(/model\W+rye-expert\W/);
    expect(code).not.toContain('models');
  }
  for (const { code } of apiExamples('https://bake.example')) expect(code).toMatch(/models/);
});
