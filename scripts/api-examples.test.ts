import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { apiExamples, keyExample } from '../web/src/modules/accounts/keys/api-examples.ts';

test('what is copied works as it is: the key, then curl', async () => {
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
  const [curl] = apiExamples(origin);
  await promisify(execFile)('sh', ['-c', `${keyExample('secret')}\n${curl?.code}`]);
  server.close();
  expect(asked.map(({ url, key }) => [url, key])).toEqual([
    ['/v1/models', 'Bearer secret'],
    ['/v1/chat/completions', 'Bearer secret'],
  ]);
  expect(JSON.parse(asked[1]?.body ?? '')).toMatchObject({ model: 'crumb-expert' });
});
