import { afterEach, expect, test, vi } from 'vitest';
import { sha256 } from './sha256.ts';

const bytes = new TextEncoder().encode('abc').buffer;
const HASH = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

afterEach(() => vi.unstubAllGlobals());

test('hashes with the browser, or in JavaScript on plain http pages', async () => {
  expect(await sha256(bytes)).toBe(HASH);
  vi.stubGlobal('crypto', {});
  expect(await sha256(bytes)).toBe(HASH);
});
