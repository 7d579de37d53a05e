import { expect, it, vi } from 'vitest';
import * as z from 'zod';
import { newId, newUuid } from './new-id.ts';

it('generates unique ids, also outside secure contexts', () => {
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
  const ids = Array.from({ length: 100 }, newId);
  const uuids = Array.from({ length: 100 }, newUuid);
  vi.unstubAllGlobals();
  expect(new Set(ids).size).toBe(100);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  for (const id of uuids) expect(z.uuidv4().safeParse(id).success).toBe(true);
});
