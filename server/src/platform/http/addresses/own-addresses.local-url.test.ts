import { expect, test } from 'vitest';
import { localUrl } from './own-addresses.ts';

test.each([
  ['127.0.0.1', 'http://127.0.0.1:4080'],
  ['localhost', 'http://localhost:4080'],
  ['0.0.0.0', 'http://127.0.0.1:4080'],
  ['::', 'http://127.0.0.1:4080'],
  ['192.168.7.20', 'http://192.168.7.20:4080'],
  ['fd00::20', 'http://[fd00::20]:4080'],
])('a server that listens on %s is reachable at %s', (host, url) => {
  expect(localUrl({ host, port: 4080 })).toBe(url);
});
