import { expect } from 'vitest';
import { createDataset } from '../create-dataset.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const rows = [
  'rye',
  'spelt',
  'wheat',
  'oat',
  'barley',
  'maize',
  'millet',
  'rice',
  'emmer',
  'teff',
  'sorghum',
  'einkorn',
];
const DATA = {
  name: 'grains.csv',
  text: `question,answer\n${rows.map((grain) => `What is ${grain}?,${grain} is a grain.\n`).join('')}`,
};

journey(
  'a person exports a fine-tune as a GGUF, and is told how to run it elsewhere',
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await createDataset(page, { name: 'Grains', file: DATA });
    await page.getByRole('button', { name: 'Fine-tune on this' }).click();
    const screen = page.getByRole('dialog', { name: 'Fine-tune' });
    await screen.getByText(/^12 examples, .+, never more than \$/).waitFor({ timeout: WORK_MS });
    await screen.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('Charged', { exact: true }).waitFor({ timeout: WORK_MS });
    await page.getByRole('link', { name: 'Model', exact: true }).click();

    await page.getByRole('button', { name: 'Export' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export' });
    await dialog.getByRole('radio', { name: 'GGUF Q8_0' }).click();
    await look(page, 'export-dialog');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('heading', { name: 'Grains model (GGUF Q8_0)' }).waitFor();
    await look(page, 'export-running');
    await page.getByRole('heading', { name: 'Run it on your computer' }).waitFor({ timeout: WORK_MS });
    expect(await page.getByRole('region', { name: 'Ollama' }).textContent()).toContain(
      'ollama create grains-model-q8_0 -f Modelfile',
    );
    await look(page, 'export-done');
    await page.getByRole('link', { name: 'Model', exact: true }).click();
    await page.getByRole('button', { name: 'Deploy', exact: true }).waitFor();
    await page.getByRole('tab', { name: /^Files/ }).click();
    await page.getByText('grains-model-Q8_0.gguf').first().waitFor();
    await look(page, 'export-files');
  },
);
