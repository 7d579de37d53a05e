import { expect, test, vi } from 'vitest';

test('what is waited for may take longer than vitest would wait', async () => {
  let isThere = false;
  setTimeout(() => {
    isThere = true;
  }, 1500);
  await vi.waitFor(() => expect(isThere).toBe(true));
});
