import { expect } from 'vitest';
import { emptySafetensors } from '../../server/src/modules/fine-tuning/testing/test-run.ts';
import { choose } from '../choose.ts';
import { createDataset } from '../create-dataset.ts';
import { goToParameters } from '../go-to-parameters.ts';
import { journey, look, soakJourney } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const ROWS = Array.from({ length: 12 }, (_, n) => `What is number ${n}?,It is the number ${n}.`);
const DATA = { name: 'numbers.csv', text: ['question,answer', ...ROWS].join('\n') };
const WEIGHTS = {
  name: 'model.safetensors',
  mimeType: 'application/octet-stream',
  buffer: emptySafetensors(),
};
const json = (name: string) => ({ name, mimeType: 'application/json', buffer: Buffer.from('{}') });

journey('uploading a model: the wizard asks for missing files before it is ready', async ({ page }) => {
  await signUp(page);
  await page.goto('/model?sheet=create-model');
  const next = page.getByRole('button', { name: 'Continue' });
  await next.click();
  await page.getByRole('dialog').getByText('Please select a model type first').waitFor();
  await page.getByRole('radio', { name: 'Upload a model' }).click();
  await next.click();
  await page.getByLabel('Model name').fill('Home baked');
  await next.click();
  await page.getByRole('dialog').getByText('Please fill in all required fields').waitFor();
  await choose(page, 'Base model type', 'qwen');
  await next.click();
  const create = page.getByRole('button', { name: 'Create model' });
  await create.click();
  await page
    .getByRole('dialog')
    .getByText('Please fill in all required fields and upload at least one file')
    .waitFor();
  await look(page, 'wizard-upload-empty');
  await page.getByLabel('Choose files').setInputFiles([WEIGHTS, json('config.json')]);
  await create.click();
  await page.getByText('This model cannot be used yet').waitFor();
  await page.getByText('has no tokenizer.json').waitFor();
  await look(page, 'wizard-upload-review');
  await page.getByLabel('Choose files').setInputFiles(json('tokenizer.json'));
  await page.getByText('Can be fine-tuned', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Finish' }).click();
  await page.getByText('Your Model is Ready!').waitFor();
  await look(page, 'wizard-upload-ready');
  await page.getByRole('link', { name: 'Manage Model' }).click();
  await page.getByRole('heading', { level: 1, name: 'Home baked' }).waitFor();
});

soakJourney(
  'a configuration is saved, renamed, exported, imported and applied',
  async ({ page, allowErrors }) => {
    allowErrors(/400|409/);
    await signUp(page);
    await createDataset(page, { name: 'Numbers', file: DATA });
    await goToParameters(page, { name: 'Number Expert', file: DATA.name });
    await page.getByLabel('Epochs').fill('7');
    await look(page, 'wizard-gpu');
    await page.getByLabel('Template name').fill('Seven');
    await page.keyboard.press('Enter');
    await page.getByText('Template saved').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('button', { name: 'Choose Config' }).click();
    const dialog = page.getByRole('dialog', { name: 'Configuration Templates' });
    await dialog.getByRole('radio', { name: 'Seven' }).click();
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await dialog.getByLabel('New name').fill('Seven epochs');
    await page.keyboard.press('Enter');
    await dialog.getByRole('radio', { name: 'Seven epochs' }).waitFor();
    await look(page, 'configurations');
    const saved = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'YAML' }).click();
    expect((await saved).suggestedFilename()).toBe('Seven epochs.yaml');

    const importFile = (name: string, text: string) =>
      dialog
        .getByLabel('Template file')
        .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await importFile('wrong.yaml', 'epochs: 3\nlearningrate: 1\n');
    await page.getByText('Unknown field: learningrate').waitFor();
    await importFile('Quick.yaml', 'modelName: Quick Expert\nlearningRate: 0.0002\nepochs: 2\nloraR: 4\n');
    await dialog.getByRole('radio', { name: 'Quick' }).waitFor();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect.poll(() => page.getByLabel('Epochs').inputValue()).toBe('2');
    expect(await page.getByLabel('Learning rate').inputValue()).toBe('0.0002');
    // The panel is open, because a setting in it differs from its default.
    expect(await page.getByLabel('Rank', { exact: true }).inputValue()).toBe('4');
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('button', { name: 'Back' }).click();
    expect(await page.getByLabel('Model name').inputValue()).toBe('Quick Expert');
  },
);
