import { expect } from 'vitest';
import { choose } from '../choose.ts';
import { createDataset } from '../create-dataset.ts';
import { goToParameters } from '../go-to-parameters.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const FILE = 'facts.csv';
/** Of which five are held out: as few as a best run can be told by. */
const ROWS = Array.from({ length: 25 }, (_, at) => `What is fact ${at}?,Bread.`);

journey('two ranks start as one quote, and one table says which is the best', async ({ page }) => {
  await signUp(page);
  await createDataset(page, {
    name: 'Facts',
    file: { name: FILE, text: `question,answer\n${ROWS.join('\n')}\n` },
  });
  await goToParameters(page, { name: 'Two ranks', file: FILE });
  await page.getByLabel('Epochs').fill('1');
  await page.getByLabel('Batch size', { exact: true }).fill('8');
  await page.getByLabel('Gradient accumulation').fill('1');
  await page.getByRole('button', { name: 'Sweep' }).click();
  await choose(page, 'First parameter', 'LoRA rank');
  const values = page.getByLabel('LoRA rank values');
  await values.fill('4, 512');
  const next = page.getByRole('button', { name: 'Continue' });
  await next.click();
  const wizard = page.getByRole('dialog');
  await wizard.getByText('LoRA rank must be at most 256').waitFor();
  await look(page, 'sweep-refused');
  await values.fill('4, 8');
  await wizard.getByText('2 runs, each with a model.').waitFor();
  await next.click();
  await wizard.getByText(/^2 runs of 25 examples, together /).waitFor({ timeout: WORK_MS });
  await wizard.getByText(/^LoRA rank 8/).waitFor();
  await look(page, 'sweep-review');
  await page.getByRole('button', { name: 'Start 2 runs' }).click();
  await page.getByRole('link', { name: 'Watch the sweep' }).click({ timeout: WORK_MS });

  await page.getByRole('heading', { name: 'Two ranks', level: 1 }).waitFor();
  await page.getByText('0 of 2 runs completed.').waitFor();
  await look(page, 'sweep-begun');
  await page.reload();
  await page
    .getByText(/^LoRA rank \d is the best so far: .* same 5 held-out rows/)
    .waitFor({ timeout: WORK_MS });
  // At once: the second run ends as well.
  await page.getByRole('button', { name: 'Cancel sweep' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel sweep' }).click();
  await page.getByText('1 of 2 runs completed, 1 cancelled.').waitFor({ timeout: WORK_MS });
  await page.getByText(/^LoRA rank \d is the best: /).waitFor();
  await page.getByRole('button', { name: 'Deploy the best' }).waitFor();
  await look(page, 'sweep-best');

  await page.getByRole('link', { name: 'Sweeps' }).click();
  await page.getByText('1 of 2 runs completed, 1 cancelled.').waitFor();
  await page.getByLabel('Search sweeps').fill('rates');
  await page.getByText('No sweeps match your search.').waitFor();
  await page.getByLabel('Search sweeps').fill('RANKS');
  await page.getByRole('link', { name: 'Two ranks' }).waitFor();
  await look(page, 'sweep-list');
  await page.getByRole('link', { name: 'LLM Training' }).first().click();
  await expect.poll(() => page.getByRole('link', { name: 'Sweep', exact: true }).count()).toBe(2);
  await look(page, 'sweep-runs');
});
