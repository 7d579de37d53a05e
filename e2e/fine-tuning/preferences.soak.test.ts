import { readFileSync } from 'node:fs';
import path from 'node:path';
import { choose } from '../choose.ts';
import { createDataset } from '../create-dataset.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const NAME = 'bakehouse-preferences.csv';
const EXAMPLE = path.resolve(import.meta.dirname, '../../examples', NAME);
const LEARNT = 'The model learns to prefer the better answers (DPO).';

journey('preferences are detected, and trained with DPO unless only the answers are', async ({ page }) => {
  await signUp(page);
  await createDataset(page, {
    name: 'Kind answers',
    file: { name: NAME, text: readFileSync(EXAMPLE, 'utf8') },
  });
  await page.getByRole('tab', { name: 'Rows' }).click();
  await page.getByRole('columnheader', { name: 'rejected' }).waitFor();
  await page.getByRole('button', { name: 'Fine-tune on this' }).click();
  const screen = page.getByRole('dialog');
  await screen.getByText(/^40 examples, /).waitFor({ timeout: WORK_MS });
  await screen.getByText(LEARNT).waitFor();
  const worse = screen.getByRole('group', { name: 'Worse answer' });
  await worse.scrollIntoViewIfNeeded();
  await look(page, 'preferences-quick');

  await page.getByRole('button', { name: 'All settings' }).click();
  await page.getByRole('combobox', { name: 'Data format' }).getByText('Preferences').waitFor();
  await page.getByRole('combobox', { name: 'Rejected column' }).getByText('rejected').waitFor();
  await look(page, 'preferences-format');
  await page.getByRole('button', { name: 'Objective' }).click();
  await page.getByLabel('Beta').fill('0');
  const next = page.getByRole('button', { name: 'Continue' });
  await next.click();
  await screen.getByText('Beta must be at least 0.001').waitFor();
  await look(page, 'preferences-objective');
  await page.getByLabel('Beta').fill('0.2');
  await choose(page, 'Objective', 'Learn the answers');
  await page.getByLabel('Beta').waitFor({ state: 'hidden' });
  await choose(page, 'Objective', 'Prefer the better answers (DPO)');
  await next.click();
  await screen.getByRole('button', { name: 'Details' }).click({ timeout: WORK_MS });
  await screen.getByText(LEARNT).waitFor();
  await screen.getByText('40 of 40').waitFor();
  await screen.getByText('How the model sees the first examples').click();
  await worse.first().scrollIntoViewIfNeeded();
  await look(page, 'preferences-review');
});
