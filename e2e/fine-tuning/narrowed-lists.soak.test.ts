import { expect } from 'vitest';
import { choose } from '../choose.ts';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey('runs and deployments are filtered in the URL, which survives a reload', async ({ page }) => {
  await signUp(page);
  await page.goto('/llm-training');
  await page.getByText('No runs yet').waitFor();
  await choose(page, 'Status', 'Failed');
  await page.getByText('No runs found').waitFor();
  await page.getByLabel('Search runs').fill('crumb');
  await page.waitForURL(/search=crumb/);
  expect(page.url()).toContain('state=failed');
  await choose(page, 'Sort by', 'Name');
  await page.waitForURL(/sort=title/);
  await page.reload();
  await page.getByText('No runs found').waitFor();
  expect(await page.getByLabel('Search runs').inputValue()).toBe('crumb');
  expect(await page.getByRole('combobox', { name: 'Sort by' }).textContent()).toContain('Name');
  await look(page, 'runs-narrowed');

  await page.goto('/my-deployments');
  await page.getByText('Nothing is deployed').waitFor();
  expect(await page.getByLabel('Search deployments').count(), 'a search over nothing').toBe(0);
  await page.goto('/my-deployments?status=failed');
  await page.getByText('No deployments found').waitFor();
  await choose(page, 'Status', 'Sleeping');
  await page.waitForURL(/status=sleeping/);
  await choose(page, 'Sort by', 'Name');
  await page.waitForURL(/sort=title/);
  await look(page, 'deployments-narrowed');
  await choose(page, 'Status', 'All');
  await page.getByText('Nothing is deployed').waitFor();
  expect(page.url()).toContain('status=all');
});
