import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import { effort } from '../../server/src/testing/soak.ts';
import { journey } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey('a toast’s button is below its text and does not narrow it', async ({ page, allowErrors }) => {
  allowErrors(/400/);
  await page.route(/\/balance/, (route) => route.fulfill({ status: 400, json: {} }));
  await signUp(page);
  const text = await page.getByText('Balance information may be outdated').boundingBox();
  const button = await page.getByRole('button', { name: 'Refresh' }).boundingBox();
  if (!text || !button) throw new Error('The toast is not visible');
  expect(button.y).toBeGreaterThanOrEqual(text.y + text.height);
});

journey(
  'toasts do not cover open layers: these end above the toasts, or the toasts are next to them',
  async ({ page, allowErrors }) => {
    allowErrors(/400/);
    await signUp(page);
    await page.route(/\/balance/, (route) => route.fulfill({ status: 400, json: {} }));
    for (const width of effort({ usual: [390, 1280], soak: [360, 390, 768, 1280] })) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto('/dashboard?sheet=create-dataset');
      const sheet = page.getByRole('dialog', { name: 'Create Dataset' });
      await sheet.waitFor();
      // Look for this toast only, because another one appears if a starter model becomes ready.
      const toast = page.locator('[data-sonner-toast]').filter({ hasText: 'Balance information' });
      await toast.waitFor();
      await expect.poll(() => overlap(sheet, toast), { message: `at ${width} px` }).toBe(0);
      await toast.getByRole('button', { name: 'Close toast' }).click();
      await toast.waitFor({ state: 'detached' });
      // The sheet is as high as before.
      await expect.poll(async () => ((await sheet.boundingBox())?.height ?? 0) >= 844).toBe(true);
    }
  },
);

/** Returns how much two elements overlap, in square pixels. */
async function overlap(one: Locator, other: Locator): Promise<number> {
  const [a, b] = await Promise.all([one.boundingBox(), other.boundingBox()]);
  if (!a || !b) throw new Error('One of the elements is not visible');
  const shared = (start: 'x' | 'y', size: 'width' | 'height') =>
    Math.max(0, Math.min(a[start] + a[size], b[start] + b[size]) - Math.max(a[start], b[start]));
  return shared('x', 'width') * shared('y', 'height');
}
