import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { choose } from '../choose.ts';
import { createDataset } from '../create-dataset.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';
import { unfoldSettings } from '../unfold-settings.ts';
import { brokenPicture, drawnPictures } from './drawn-pictures.ts';

const STEPS = 4;

journey(
  'a user trains a LoRA on drawn pictures and generates a picture with it',
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await makeDataset(page);
    await writeCaptions(page);
    await startTraining(page);
    await watchSamples(page);
    await makePicture(page);
    await useCheckpoint(page);
  },
);

async function makeDataset(page: Page): Promise<void> {
  await createDataset(page, { name: 'Discs on a board' });
  const files = [...drawnPictures(), brokenPicture('broken.png')];
  await page.getByLabel('Choose files').setInputFiles(files);
  await page.getByRole('tab', { name: `Files (${files.length})` }).waitFor({ timeout: WORK_MS });
}

/** Adds the missing caption next to its picture, and a trigger word for all captions. */
async function writeCaptions(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Pictures' }).click();
  await page.getByRole('button', { name: 'Write captions' }).click();
  const editor = page.getByRole('dialog', { name: 'Captions' });
  await editor.getByText('1 of 9 pictures has no caption.').waitFor({ timeout: WORK_MS });
  await editor.getByLabel('broken.png').waitFor({ timeout: WORK_MS });
  await look(page, 'captions');
  await editor.getByLabel('Trigger word').fill('zwk');
  await editor.getByRole('button', { name: 'Add to all' }).click();
  await editor.getByLabel('broken.png').fill('zwk, a disc');
  await editor.getByText('All 9 pictures have a caption.').waitFor();
  await editor.getByRole('button', { name: 'Save 9 captions' }).click();
  await editor.waitFor({ state: 'hidden' });
}

/** Starts a run from the empty list. The wizard names the pictures that will not be used. */
async function startTraining(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Diffusion Training' }).first().click();
  await page.getByText('No runs yet').waitFor();
  await look(page, 'diffusion-empty');
  await page.getByRole('button', { name: 'New LoRA' }).first().click();
  const next = page.getByRole('button', { name: 'Continue' });
  await next.click();
  await page.getByText('Name must have at least 4 characters').first().waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Board style');
  const base = page.getByRole('combobox', { name: 'Base model' });
  await expect.poll(() => base.inputValue(), { timeout: WORK_MS }).toBe('Kontext starter');
  await choose(page, 'Dataset', 'Discs on a board');
  await page.getByLabel('Trigger word').fill('zwk');
  await look(page, 'diffusion-pictures');
  await next.click();
  await page.getByRole('radio', { name: 'Quick look' }).click();
  await page.getByRole('spinbutton', { name: 'Steps', exact: true }).fill(String(STEPS));
  await page.getByRole('spinbutton', { name: 'Steps between samples' }).fill(String(STEPS / 2));
  await page.getByLabel('Sample prompts').fill('zwk, a red disc');
  await look(page, 'diffusion-training');
  await next.click();
  await page.getByText('Cost estimate').waitFor({ timeout: WORK_MS });
  const review = page.getByRole('dialog');
  await review.getByText('8 of 9').waitFor();
  await review.getByText('broken.png is not a picture that can be read.').waitFor();
  await look(page, 'diffusion-review');
  // Long enough for a slow machine.
  await review.getByLabel('Spending limit').fill('1');
  await page.getByRole('button', { name: 'Start training' }).click();
  await page.waitForURL('**/runs/*', { timeout: WORK_MS });
}

/** Samples appear with each checkpoint and can be stepped through. */
async function watchSamples(page: Page): Promise<void> {
  await page
    .getByText('Completed', { exact: true })
    .filter({ visible: true })
    .first()
    .waitFor({ timeout: WORK_MS });
  await page.getByRole('img', { name: `zwk, a red disc, step ${STEPS}` }).waitFor({ timeout: WORK_MS });
  await look(page, 'diffusion-run');
  await page.getByRole('button', { name: 'Earlier checkpoint' }).click();
  await page.getByRole('img', { name: `zwk, a red disc, step ${STEPS / 2}` }).waitFor();
  const slider = page.getByRole('slider', { name: 'Checkpoint' });
  await slider.press('Home');
  expect(await slider.getAttribute('aria-valuetext')).toBe('Before training');
}

/** Generates a picture with the LoRA, which is already selected. */
async function makePicture(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Use this LoRA' }).click();
  await page.waitForURL('**/flux-kontext*');
  const lora = page.getByRole('combobox', { name: 'LoRA' });
  await expect.poll(() => lora.inputValue(), { timeout: WORK_MS }).toBe('Board style');
  const [picture] = drawnPictures();
  if (picture) await page.getByLabel('Choose a file').setInputFiles(picture);
  await page.getByLabel('Prompt', { exact: true }).fill('zwk, make it blue');
  await unfoldSettings(page);
  await page.getByRole('spinbutton', { name: 'Steps' }).fill('4');
  await page.locator('[aria-label="Price"][aria-busy="false"]').waitFor({ timeout: WORK_MS });
  await page.getByRole('button', { name: 'Generate' }).click();
  const results = page.getByRole('region', { name: 'Results' });
  await results.getByRole('slider', { name: 'Before and after' }).waitFor({ timeout: WORK_MS });
  await look(page, 'diffusion-picture');
}

/** LoRAs of earlier checkpoints can be used too. */
async function useCheckpoint(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Diffusion Training' }).first().click();
  await page.getByRole('link', { name: 'Board style' }).first().click();
  const marked = page.locator('nav[aria-label="Main"] [data-selected]');
  await expect.poll(() => marked.allTextContents()).toEqual(['Diffusion Training']);
  await page.getByRole('button', { name: 'Earlier checkpoint' }).click();
  await page.getByRole('button', { name: 'Use this checkpoint' }).click();
  await page.waitForURL('**/flux-kontext*');
  const lora = page.getByRole('combobox', { name: 'LoRA' });
  await expect.poll(() => lora.inputValue(), { timeout: WORK_MS }).toBe(`Board style, step ${STEPS / 2}`);
}
