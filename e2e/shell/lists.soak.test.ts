import type { Route } from 'playwright-core';
import { expect } from 'vitest';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const PAGE_LENGTH = 60;
const PAGES = 3;

const dataset = (number: number) => ({
  dataset_id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  dataset_type: 'RAW',
  title: `Recipes ${number}`,
  category: 'Book',
  details: '',
  tags: number % 3 === 0 ? ['bread', 'cake'] : [],
  file_count: 1,
  size_bytes: 1024,
  is_starter: false,
  starter_task: null,
  updated_at: '2026-11-20T08:00:00.000Z',
});

/** Responds with the page of the list that the cursor requests. */
function answer(route: Route) {
  const page = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
  const datasets = Array.from({ length: PAGE_LENGTH }, (_, index) => dataset(page * PAGE_LENGTH + index));
  const next_cursor = page + 1 < PAGES ? String(page + 1) : null;
  return route.fulfill({ json: { datasets, next_cursor } });
}

const reject = (route: Route) =>
  route.fulfill({ status: 400, json: { error: { message: 'The disk is on fire' } } });

journey(
  'a long list loads more when its end scrolls into view, and shows why it cannot',
  async ({ page, allowErrors }) => {
    allowErrors(/400/);
    await signUp(page);
    let broken = true;
    await page.route('**/api/v1/datasets?**', (route) =>
      broken && route.request().url().includes('cursor=1') ? reject(route) : answer(route),
    );
    await page.goto('/dataset');
    await page.getByText('Recipes 0', { exact: true }).waitFor();
    await page.getByText('Recipes 59', { exact: true }).scrollIntoViewIfNeeded();
    await page.getByText('The rest could not be loaded: The disk is on fire').waitFor();
    await look(page, 'list-rest-failed');

    broken = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    const last = page.getByText(`Recipes ${PAGE_LENGTH * PAGES - 1}`, { exact: true });
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 2_000);
        return last.isVisible();
      })
      .toBe(true);
    // Only the rows in the visible area are rendered.
    expect(await page.getByRole('row').count()).toBeLessThan(PAGE_LENGTH * PAGES);
    expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
  },
);

journey('data that cannot be refreshed stays visible with its age', async ({ page, allowErrors }) => {
  allowErrors(/400/);
  await signUp(page);
  await page.route('**/api/v1/datasets?**', answer);
  await page.goto('/dataset');
  await page.getByText('Recipes 0', { exact: true }).waitFor();
  await page.unroute('**/api/v1/datasets?**');
  await page.route('**/api/v1/datasets?**', reject);
  // Creating a dataset loads the list again.
  await page.getByRole('button', { name: 'Create Dataset' }).click();
  const sheet = page.getByRole('dialog', { name: 'Create Dataset' });
  await sheet.getByLabel('Name').fill('Another');
  await sheet.getByRole('button', { name: 'Create', exact: true }).click();
  await sheet.getByRole('button', { name: 'Close' }).last().click();
  await page.getByText(/^Last updated .*Refreshing failed: The disk is on fire/).waitFor();
  await page.getByText('Recipes 0', { exact: true }).waitFor();
  await look(page, 'list-stale');
});
