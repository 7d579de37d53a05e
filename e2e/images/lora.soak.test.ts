import type { Page } from 'playwright-core';
import { starterLora } from '../../server/src/modules/generations/testing/starter-lora.ts';
import { choose } from '../choose.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';
import { unfoldSettings } from '../unfold-settings.ts';

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Uploads a LoRA like any other model. Afterwards its page is open. */
async function uploadLora(page: Page, name: string): Promise<void> {
  await page.goto('/model?sheet=create-model');
  const next = page.getByRole('button', { name: 'Continue' });
  await page.getByRole('radio', { name: 'Upload a model' }).click();
  await next.click();
  await page.getByLabel('Model name').fill(name);
  await choose(page, 'Base model type', 'qwen');
  await next.click();
  await page.getByLabel('Choose files').setInputFiles({
    ...{ name: 'pytorch_lora_weights.safetensors', mimeType: 'application/octet-stream' },
    buffer: starterLora(),
  });
  await page.getByRole('button', { name: 'Create model' }).click();
  await page.getByText('Can be chosen as a LoRA for pictures').waitFor();
  await look(page, 'lora-uploaded');
  await page.getByRole('button', { name: 'Finish' }).click();
  await page.getByText('Your Model is Ready!').waitFor();
  await page.getByRole('link', { name: 'Manage Model' }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

journey(
  'a LoRA is uploaded as a model and selected for a picture, which shows its name',
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await uploadLora(page, 'Watercolour');
    await page.getByText('A LoRA for pictures').waitFor();
    await look(page, 'lora-model');
    await page.getByText('A LoRA for pictures').getByRole('link', { name: 'FLUX.1 Kontext' }).click();
    await page
      .getByLabel('Choose a file')
      .setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: picture });
    await page.getByLabel('Prompt', { exact: true }).fill('make it blue');
    await unfoldSettings(page);
    await page.getByRole('spinbutton', { name: 'Steps' }).fill('4');
    await choose(page, 'LoRA', 'Watercolour');
    await page.getByRole('spinbutton', { name: 'LoRA strength' }).fill('0.5');
    await page.locator('[aria-label="Price"][aria-busy="false"]').waitFor({ timeout: WORK_MS });
    await page.getByRole('button', { name: 'Generate' }).click();
    const results = page.getByRole('region', { name: 'Results' });
    await results.getByRole('slider', { name: 'Before and after' }).waitFor({ timeout: WORK_MS });
    await look(page, 'lora-chosen');

    await page.goto('/gallery');
    await page.getByRole('link', { name: 'make it blue, an edit' }).click();
    await page.getByRole('link', { name: 'Watercolour' }).waitFor();
    await look(page, 'lora-generation');
  },
);
