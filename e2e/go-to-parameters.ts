import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { choose } from './choose.ts';
import { WORK_MS } from './journey.ts';

type Choice = { name: string; file: string };

/**
 * Goes from a dataset's page to the step Parameters of the wizard. Accepts the wizard's suggestions in the
 * other steps.
 */
export async function goToParameters(page: Page, { name, file }: Choice): Promise<void> {
  await page.getByRole('button', { name: 'Fine-tune on this' }).click();
  const base = page.getByRole('combobox', { name: 'Base model' });
  await expect.poll(() => base.inputValue(), { timeout: WORK_MS }).toContain('SmolLM2');
  await expect.poll(() => page.getByLabel('Model name').inputValue()).toMatch(/ model$/);
  await page.getByLabel('Model name').fill(name);
  await page.getByRole('button', { name: 'All settings' }).click();
  await page.getByRole('button', { name: 'Back' }).click();
  await choose(page, 'File', file);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('combobox', { name: 'Input column' }).getByText('question').waitFor();
  await page.getByRole('combobox', { name: 'Output column' }).getByText('answer').waitFor();
}
