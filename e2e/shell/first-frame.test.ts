import { expect } from 'vitest';
import type { Page } from '../chromium.ts';
import { journey } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const frame = '#root > [inert]';

/** Holds back all code of the app; returns a function that releases it. */
async function withoutCode(page: Page): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/assets/*.js', async (route) => {
    await released;
    await route.continue();
  });
  return async () => {
    release();
    await page.locator(frame).waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'wait' });
  };
}

journey('a visitor reads a page before its code has loaded', async ({ page }) => {
  for (const [path, title] of [
    ['/', /^From your data/],
    ['/flux', /FLUX\.1/],
  ] as const) {
    const release = await withoutCode(page);
    await page.goto(path, { waitUntil: 'commit' });
    await page.locator(`${frame} h1`, { hasText: title }).waitFor();
    await release();
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    expect(await page.locator('h1').count(), path).toBe(1);
  }
});

journey(
  'a signed-in user sees the shell before the code has loaded, and no visitor’s page',
  async ({ page }) => {
    await signUp(page);
    for (const path of ['/', '/flux', '/dashboard']) {
      const release = await withoutCode(page);
      await page.goto(path, { waitUntil: 'commit' });
      await page.locator(`${frame} header`).waitFor();
      expect(await page.locator('h1').count(), path).toBe(0);
      await release();
      await page.getByRole('button', { name: /^Account/ }).waitFor();
    }
  },
);

journey('no prerendered frame is shown for a different page', async ({ page }) => {
  for (const [path, title] of [
    ['/?form=sign-up', 'Create your account'],
    ['/docs', 'Getting started'],
    ['/runs/%zz', 'Page not found'],
  ] as const) {
    const release = await withoutCode(page);
    await page.goto(path, { waitUntil: 'commit' });
    await page.locator('first-frame').waitFor({ state: 'attached' });
    expect(await page.locator('#root').innerHTML(), path).toBe('');
    await release();
    await page.getByRole('heading', { name: title }).waitFor();
  }
});
