import dns from 'node:dns/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { spyOnBuiltin } from '../../../testing/spy-on-builtin.ts';
import { fetchPublic } from './fetch-public.ts';
import { isPublicAddress } from './is-public-address.ts';

/** DNS results by name, one per lookup; the last one repeats. Other names are resolved normally. */
const names = new Map<string, string[]>();
const { lookup } = dns;
const lookupAll = async (name: string) => {
  if (name === 'silent.example') return new Promise<never>(() => undefined);
  const answers = names.get(name);
  if (!answers) return lookup(name, { all: true });
  const [address = ''] = answers.length > 1 ? answers.splice(0, 1) : answers;
  return [{ address, family: 4 }];
};
spyOnBuiltin(dns, 'lookup').mockImplementation(lookupAll as unknown as typeof lookup);

async function serve(answer: RequestListener, host = '127.0.0.1', port = 0): Promise<string> {
  const server = createServer(answer);
  onFileEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((done) => server.listen(port, host, done));
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

// In these tests, this machine's IPv4 address counts as public.
const isThisMachine = (address: string): boolean => address === '127.0.0.1';
const open = (url: string, isAllowed: (address: string) => boolean = isThisMachine) =>
  fetchPublic(new URL(url), { param: 'image_url', isAllowed });
const read = async (...asked: Parameters<typeof open>) => String(await buffer(await open(...asked)));
const redirects = await serve(({ url = '' }, response) => {
  const { searchParams, pathname } = new URL(url, 'http://localhost');
  const [to, left] = [searchParams.get('to'), Number(pathname.slice(1))];
  if (to === null) return void response.end('a picture');
  const location = left > 1 ? `/${left - 1}?to=${encodeURIComponent(to)}` : to;
  response.writeHead(302, { location }).end();
});

describe('a fetch from the public internet', () => {
  test('works by name, also through three redirects', async () => {
    expect(await read(redirects.replace('localhost', '127.0.0.1'))).toBe('a picture');
    expect(await read(`${redirects}/3?to=/`, () => true)).toBe('a picture');
    await expect(read(`${redirects}/4?to=/`, () => true)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'image_url',
      publicMessage: 'image_url leads through more than 3 redirects',
    });
  });

  // Other systems have only one loopback address.
  test.skipIf(process.platform !== 'linux')(
    'connects to the checked address even if a later lookup of the name returns another one',
    async () => {
      const start = new URL(
        await serve(({ url, headers }, response) => {
          if (url === '/moved') response.writeHead(302, { location: '/' }).end();
          else response.end(`of ${headers.host}`);
        }),
      );
      // An internal server at the same port.
      await serve((_request, response) => void response.end('a secret'), '127.0.0.2', Number(start.port));
      start.hostname = 'bakery.example';
      names.set('bakery.example', ['127.0.0.1', '127.0.0.2']);
      expect(await read(start.href)).toBe(`of ${start.host}`);
      names.set('bakery.example', ['127.0.0.1', '127.0.0.2']);
      await expect(read(`${start.href}moved`)).rejects.toMatchObject({
        publicMessage: 'image_url must be a public http or https address',
      });
    },
  );

  test('ends within 20 seconds, even if the server is slow', async ({ onTestFinished }) => {
    const limit = new AbortController();
    const limited = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
    onTestFinished(() => limited.mockRestore());
    const slow = await serve((_request, response) => {
      response.writeHead(200);
      const coming = setInterval(() => response.write('a'), 20);
      response.on('close', () => clearInterval(coming));
    });
    const fetched = await open(slow.replace('localhost', '127.0.0.1'));
    limit.abort(new DOMException('The time is over', 'TimeoutError'));
    await expect(buffer(fetched)).rejects.toMatchObject({
      publicMessage: 'image_url broke off before it was there',
    });
    expect(limited.mock.calls).toEqual([[20_000]]);
  });

  test('times out even if the DNS server does not respond', async () => {
    const start = new URL('http://silent.example/');
    await expect(fetchPublic(start, { param: 'image_url', limitMs: 50 })).rejects.toMatchObject({
      publicMessage: 'image_url: silent.example could not be found',
    });
  });

  test.each([
    'http://127.0.0.1:1/',
    'http://localhost:1/',
    'http://2130706433/',
    'http://[::1]/',
    'http://[::ffff:169.254.169.254]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'http://192.168.1.1/',
    'http://user:secret@example.com/',
    'file:///etc/passwd',
    'ftp://example.com/',
    'gopher://example.com/',
  ])('never connects to %s, nor after a redirect', async (url) => {
    const refusal = {
      code: 'invalid_request',
      param: 'image_url',
      publicMessage: 'image_url must be a public http or https address',
    };
    await expect(read(url, isPublicAddress)).rejects.toMatchObject(refusal);
    const start = redirects.replace('localhost', '127.0.0.1');
    // Only the first address is allowed.
    await expect(read(`${start}/1?to=${encodeURIComponent(url)}`, () => true)).rejects.toMatchObject(refusal);
  });

  test('reports errors', async () => {
    const failing = await serve((request, response) => {
      if (request.url === '/cut') {
        response.writeHead(200, { 'content-length': '100' }).write('a pic');
        setImmediate(() => response.destroy());
      } else response.writeHead(404).end();
    });
    const address = failing.replace('localhost', '127.0.0.1');
    await expect(read(`${address}/none`)).rejects.toMatchObject({
      publicMessage: expect.stringContaining('answered with status 404'),
    });
    await expect(read(`${address}/cut`)).rejects.toMatchObject({
      publicMessage: 'image_url broke off before it was there',
    });
    await expect(read('http://127.0.0.1:1/')).rejects.toMatchObject({
      publicMessage: expect.stringContaining('could not be reached'),
    });
    await expect(read('http://nobody.invalid/')).rejects.toMatchObject({
      publicMessage: 'image_url: nobody.invalid could not be found',
    });
  });
});

test.each([
  ['8.8.8.8', true],
  ['172.15.255.255', true],
  ['172.16.0.1', false],
  ['100.64.0.1', false],
  ['169.254.169.254', false],
  ['198.18.0.1', false],
  ['203.0.113.1', false],
  ['0.0.0.0', false],
  ['127.1', false],
  ['255.255.255.255', false],
  ['2606:4700:4700::1111', true],
  ['::', false],
  ['::1', false],
  ['::127.0.0.1', false],
  ['::ffff:8.8.8.8', false],
  ['64:ff9b::7f00:1', false],
  ['64:ff9b:1::7f00:1', false],
  ['4000::1', false],
  ['fe80::1', false],
  ['fd00::1', false],
  ['ff02::1', false],
  ['2002:7f00:1::', false],
  ['2001:0:7f00:1::', false],
  ['2001:db8::1', false],
  ['3fff::1', false],
  ['example.com', false],
])('%s is an address of the public internet: %s', (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic);
});
