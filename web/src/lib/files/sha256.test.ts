import { afterEach, expect, test, vi } from 'vitest';
import { sha256 } from './sha256.ts';

const bytes = new TextEncoder().encode('abc').buffer;
const HASH = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

afterEach(() => vi.unstubAllGlobals());

test('hashes by the browser, and without it on a page that came over plain HTTP', async () => {
  expect(await sha256(bytes)).toBe(HASH);
  vi.stubGlobal('crypto', {});
  expect(await sha256(bytes)).toBe(HASH);
});
