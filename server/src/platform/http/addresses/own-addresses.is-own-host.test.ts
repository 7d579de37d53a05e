import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { isOwnHost } from './own-addresses.ts';

test.each([
  ['localhost:4080', true],
  ['bake.localhost', true],
  ['127.0.0.1:4080', true],
  ['192.168.1.20:4080', true],
  ['[fd00::1]:4080', true],
  [`${hostname()}:4080`, true],
  [`${hostname()}.local`, true],
  ['bake.example', true],
  ['bake.example:4080', false],
  ['evil.example', false],
  ['192.168.1.20.evil.example', false],
  ['localhost.evil.example', false],
  ['evillocalhost', false],
  ['', false],
])('%s is a name of this server: %s', (host, isOwn) => {
  expect(isOwnHost(host, 'https://bake.example')).toBe(isOwn);
});
