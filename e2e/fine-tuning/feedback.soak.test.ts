import { readFileSync } from 'node:fs';
import path from 'node:path';
import { choose } from '../choose.ts';
import { createDataset } from '../create-dataset.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const NAME = 'bakehouse-feedback.csv';
const EXAMPLE = path.resolve(import.meta.dirname, '../../examples', NAME);
const LEARNT = 'The model learns from good and bad answers (KTO).';

journey('feedback is detected, and trained with KTO unless only the good answers are', async ({ page }) => {
  await signUp(page);
  await createDataset(page, {
    name: 'Rated answers',
    file: { name: NAME, text: readFileSync(EXAMPLE, 'utf8') },
  });
  await page.getByRole('tab', { name: 'Rows' }).click();
  await page.getByRole('columnheader', { name: 'thumbs' }).waitFor();
  await page.getByRole('button', { name: 'Fine-tune on this' }).click();
  const screen = page.getByRole('dialog');
  await screen.getByText(/^60 examples, /).waitFor({ timeout: WORK_MS });
  await screen.getByText(LEARNT).waitFor();
  await screen.getByText(/^(Good|Bad) answer$/).scrollIntoViewIfNeeded();
  await look(page, 'feedback-quick');

  await page.getByRole('button', { name: 'All settings' }).click();
  await page.getByRole('combobox', { name: 'Data format' }).getByText('Feedback').waitFor();
  await page.getByRole('combobox', { name: 'Label column' }).getByText('thumbs').waitFor();
  await look(page, 'feedback-format');
  await page.getByRole('button', { name: 'Objective' }).click();
  await page.getByLabel('Weight of bad answers').fill('0');
  const next = page.getByRole('button', { name: 'Continue' });
  await next.click();
  await screen.getByText('Weight of bad answers must be greater than 0').waitFor();
  await look(page, 'feedback-objective');
  await page.getByLabel('Weight of bad answers').fill('1');
  await choose(page, 'Objective', 'Learn the answers');
  await page.getByLabel('Weight of bad answers').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Segmentation' }).click();
  const packing = page.getByRole('checkbox', { name: 'Pack short rows' });
  await packing.check();
  await look(page, 'feedback-packing');
  await next.click();
  await screen
    .getByText('The model learns the good answers. The bad ones are not used.')
    .waitFor({ timeout: WORK_MS });
  await screen.getByRole('button', { name: 'Details' }).click();
  await screen.getByText(/^in \d sequences$/).waitFor();
  await screen.getByText('30 of 60').waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
  await choose(page, 'Objective', 'Learn from good and bad (KTO)');
  await packing.waitFor({ state: 'hidden' });
  await page.getByLabel('Batch size', { exact: true }).fill('1');
  await next.click();
  await screen.getByText('KTO compares the answers of a batch: its batch size must be at least 2').waitFor();
  await page.getByLabel('Batch size', { exact: true }).fill('4');
  await next.click();
  await screen.getByRole('button', { name: 'Details' }).click({ timeout: WORK_MS });
  await screen.getByText(LEARNT).waitFor();
  await screen.getByText('60 of 60').waitFor();
  await screen.getByText('How the model sees the first examples').click();
  await screen.getByText('Good answer').first().scrollIntoViewIfNeeded();
  await look(page, 'feedback-review');
});
