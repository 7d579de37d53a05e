import type { Page } from 'playwright-core';
import { expect } from 'vitest';

type Choice = { name: string; file: string };

/** From a dataset's page through the wizard to its Parameters step. The rest is chosen by the wizard itself. */
export async function goToParameters(page: Page, { name, file }: Choice): Promise<void> {
  await page.getByRole('button', { name: 'Fine-tune on this' }).click();
  const next = page.getByRole('button', { name: 'Continue' });
  await page.getByLabel('Model name').fill(name);
  await next.click();
  await choose(page, 'File', file);
  await next.click();
  await page.getByRole('combobox', { name: 'Input column' }).getByText('question').waitFor();
  await page.getByRole('combobox', { name: 'Output column' }).getByText('answer').waitFor();
}

/** Chooses an option that begins with these words. */
export async function choose(page: Page, field: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).click();
  const list = page.getByRole('listbox');
  const wanted = list.getByRole('option').filter({ hasText: option }).first();
  await wanted.click();
  // A click while the list is rendered again is not taken: who makes it clicks once more.
  await expect
    .poll(
      async () => {
        if (!(await list.isVisible())) return 'chosen';
        await wanted.click({ timeout: 2_000 }).catch(() => undefined);
        return 'open';
      },
      { interval: 500 },
    )
    .toBe('chosen');
}
