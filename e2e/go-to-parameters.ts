import type { Page } from 'playwright-core';
import { choose } from './choose.ts';

type Choice = { name: string; file: string };

/** From a dataset's page through the wizard to its Parameters step. The rest is chosen by the wizard itself. */
export async function goToParameters(page: Page, { name, file }: Choice): Promise<void> {
  await page.getByRole('button', { name: 'Fine-tune on this' }).click();
  const next = page.getByRole('button', { name: 'Continue' });
  await next.click();
  await page.getByLabel('Model name').fill(name);
  await next.click();
  await choose(page, 'File', file);
  await next.click();
  await page.getByRole('combobox', { name: 'Input column' }).getByText('question').waitFor();
  await page.getByRole('combobox', { name: 'Output column' }).getByText('answer').waitFor();
}
