import { expect, test, vi } from 'vitest';

test("waiting may take longer than vitest's default", async () => {
  let isThere = false;
  setTimeout(() => {
    isThere = true;
  }, 1500);
  await vi.waitFor(() => expect(isThere).toBe(true));
});
