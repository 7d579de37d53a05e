import { readFileSync } from 'node:fs';
import path from 'node:path';
import { choose } from '../choose.ts';
import { createDataset } from '../create-dataset.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const NAME = 'bakehouse-prompts.csv';
const EXAMPLE = path.resolve(import.meta.dirname, '../../examples', NAME);
const LEARNT = 'The model answers the prompts, and learns from the rewards of its answers (GRPO).';

journey('prompts are detected, and trained with rewards that are validated first', async ({ page }) => {
  await signUp(page);
  await createDataset(page, {
    name: 'Sums to do',
    file: { name: NAME, text: readFileSync(EXAMPLE, 'utf8') },
  });
  await page.getByRole('tab', { name: 'Rows' }).click();
  await page.getByRole('columnheader', { name: 'reference' }).waitFor();
  await page.getByRole('button', { name: 'Fine-tune on this' }).click();
  const screen = page.getByRole('dialog');
  await choose(page, 'Reward 1', 'Match with the reference');
  await choose(page, 'Compare', 'The last number');
  await screen.getByText(/^60 examples, /).waitFor({ timeout: WORK_MS });
  await screen.getByText(LEARNT).waitFor();
  await screen.getByText('Reference:').scrollIntoViewIfNeeded();
  await look(page, 'prompts-quick');

  await page.getByRole('button', { name: 'All settings' }).click();
  await page.getByRole('combobox', { name: 'Data format' }).getByText('Prompts').waitFor();
  await page.getByRole('combobox', { name: 'Reference column' }).getByText('reference').waitFor();
  await page.getByRole('button', { name: 'Add reward' }).click();
  const next = page.getByRole('button', { name: 'Continue' });
  await next.click();
  await screen.getByText('Reward 2: Write a pattern').waitFor();
  await page.getByLabel('Pattern').fill('(?=a)');
  await look(page, 'prompts-rewards');
  await page.getByRole('button', { name: 'Objective' }).click();
  await page.getByLabel('Max answer tokens').fill('512');
  await next.click();
  await screen.getByText('Max answer tokens must be fewer than the max chunk size').waitFor();
  await look(page, 'prompts-objective');
  await page.getByLabel('Max answer tokens').fill('32');
  await next.click();
  await screen.getByText(/^Reward 2 \(pattern\): it is no regular expression/).waitFor({ timeout: WORK_MS });
  await page.getByRole('button', { name: 'Remove reward 2' }).click();
  await next.click();
  await screen.getByRole('button', { name: 'Details' }).click({ timeout: WORK_MS });
  await screen.getByText(LEARNT).waitFor();
  await screen.getByText('How the model sees the first examples').click();
  await screen.getByText('Reference:').first().scrollIntoViewIfNeeded();
  await look(page, 'prompts-review');
});
