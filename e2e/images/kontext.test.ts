import { buffer as bytesOf } from 'node:stream/consumers';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { journey, look, soakJourney, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';
import { unfoldSettings } from '../unfold-settings.ts';

const apple = 'a red apple on a gray table, soft light';

/** Submits the form with few steps, after the price is shown. */
async function generate(page: Page, prompt: string, steps: string): Promise<void> {
  await page.getByRole('group', { name: 'Price' }).getByText(/^\$/).waitFor({ timeout: WORK_MS });
  await page.getByLabel('Prompt', { exact: true }).fill(prompt);
  await unfoldSettings(page);
  await page.getByRole('spinbutton', { name: 'Steps' }).fill(steps);
  await page.locator('[aria-label="Price"][aria-busy="false"]').waitFor();
  await page.getByRole('button', { name: 'Generate' }).click();
}

/** Selects a file from the disk. */
async function choose(page: Page, name: string, mimeType: string, buffer: Buffer): Promise<void> {
  await page.getByLabel('Choose a file').setInputFiles({ name, mimeType, buffer });
}

/**
 * Returns the bytes that a click downloads. Reads the stream, because the browser runs in another process and
 * its download path is unknown.
 */
async function downloadedBy(page: Page, button: Locator): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  expect(download.suggestedFilename()).toMatch(/^(paris|flux-kontext)-[0-9a-f]{8}\.png$/);
  return bytesOf(await download.createReadStream());
}

journey(
  'a prompt becomes a picture, which is edited, compared, edited again and downloaded',
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await page.goto('/paris');
    await generate(page, apple, '10');
    const results = page.getByRole('region', { name: 'Results' });
    await results.getByRole('img', { name: apple }).waitFor({ timeout: WORK_MS });
    await results.getByRole('link', { name: 'Edit this picture' }).click();

    await page.waitForURL('**/flux-kontext');
    await page.getByText('From your gallery').waitFor();
    await generate(page, 'make it blue', '4');
    const slider = results.getByRole('slider', { name: 'Before and after' });
    await slider.waitFor({ timeout: WORK_MS });
    await slider.press('ArrowRight');
    expect(await slider.getAttribute('aria-valuetext')).toBe('51% before, 49% after');
    const tree = results.getByRole('list', { name: 'Edits' });
    await tree.getByRole('link', { name: apple }).waitFor();
    expect(await tree.locator('[aria-current=true]').textContent()).toBe('make it blue');
    await look(page, 'kontext-done');

    const file = await downloadedBy(page, results.getByRole('button', { name: 'Download' }));
    expect(file.subarray(1, 4).toString()).toBe('PNG');

    await results.getByRole('link', { name: 'Edit again' }).click();
    await page.getByText('From your gallery').waitFor();
    await generate(page, 'put a hat on it', '4');
    await results.getByRole('img', { name: 'put a hat on it' }).waitFor({ timeout: WORK_MS });
    await expect.poll(() => tree.getByRole('link').count()).toBe(3);

    await tree.getByRole('link', { name: 'make it blue' }).click();
    await page.getByRole('heading', { level: 1, name: 'Kontext starter picture' }).waitFor();
    await page.getByRole('list', { name: 'Edits' }).getByRole('link', { name: 'put a hat on it' }).waitFor();
    await look(page, 'kontext-generation');
    await page.goto('/gallery');
    await page.getByRole('link', { name: 'put a hat on it, an edit' }).waitFor();
    await look(page, 'kontext-gallery');

    await page.goto('/flux-kontext');
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByRole('button', { name: 'From your gallery' }).click();
    const pictures = page.getByRole('dialog', { name: 'Choose a picture' });
    await pictures.getByRole('button', { name: apple }).waitFor();
    await look(page, 'kontext-choice');
    await pictures.getByRole('button', { name: apple }).click();
    await page.getByText('From your gallery').waitFor();
    await page.getByRole('button', { name: 'Remove the picture' }).waitFor();
  },
);

journey('only the painted area of a picture changes', { timeout: WORK_MS }, async ({ page }) => {
  await signUp(page);
  await page.goto('/flux-kontext');
  const source = await pictureOf(page);
  await choose(page, 'loaf.png', 'image/png', source);
  await page.getByRole('button', { name: 'Paint an area' }).click();
  const dialog = page.getByRole('dialog', { name: 'Paint the area to change' });
  const { x, y, width, height } = (await dialog.locator('canvas').boundingBox()) ?? bug('no canvas');
  await page.mouse.move(x + 0.5 * width, y + 0.5 * height);
  await page.mouse.down();
  await page.mouse.move(x + 0.6 * width, y + 0.5 * height);
  await page.mouse.up();
  await dialog.getByRole('img', { name: /^Area to change: [1-9]\d?%/ }).waitFor();
  await look(page, 'mask-editor');
  await dialog.getByRole('button', { name: 'Use this area' }).click();
  await page.getByText('Only the painted area').waitFor();
  await generate(page, 'make it blue', '4');
  const results = page.getByRole('region', { name: 'Results' });
  await results.getByRole('slider', { name: 'Before and after' }).waitFor({ timeout: WORK_MS });
  const changed = await downloadedBy(page, results.getByRole('button', { name: 'Download' }));
  const box = await changesBetween(page, source, changed);
  // The stroke is 25 pixels thick, around the middle and to the right of it.
  expect(box.left).toBeGreaterThanOrEqual(146);
  expect(box.right).toBeLessThanOrEqual(206);
  expect(box.right - box.left).toBeGreaterThan(40);
});

soakJourney(
  'a user’s picture is uploaded and edited, and invalid files are rejected at the field',
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await page.goto('/bakery/flux-kontext');
    await page.getByLabel('Choose a file').waitFor({ state: 'attached' });
    await look(page, 'kontext-empty');
    await choose(page, 'bread.png', 'image/png', Buffer.from('A loaf of bread'));
    await page.getByText('The picture must be a PNG, JPEG or WebP file').waitFor();
    await look(page, 'kontext-refused');
    await choose(page, 'bread.png', 'image/png', Buffer.from('\x89PNG\r\n\x1a\n and no more', 'latin1'));
    await page.getByText('The picture is damaged or incomplete').waitFor();

    await choose(page, 'loaf.png', 'image/png', await pictureOf(page));
    await page.getByText('loaf.png').waitFor();
    expect(await page.getByText('The picture is damaged or incomplete').count()).toBe(0);
    await generate(page, 'on a green background', '4');
    const results = page.getByRole('region', { name: 'Results' });
    await results.getByRole('slider', { name: 'Before and after' }).waitFor({ timeout: WORK_MS });
    await results.getByText('Source picture').waitFor();

    await results.getByRole('button', { name: 'Start over' }).click();
    await page.getByText('Your pictures appear here').waitFor();
    await page.reload();
    await results.getByRole('slider', { name: 'Before and after' }).waitFor();
  },
);

function bug(message: string): never {
  throw new Error(message);
}

/** Returns the first and the last column with a pixel that differs between two pictures of 320 x 200. */
async function changesBetween(
  page: Page,
  ...files: [Buffer, Buffer]
): Promise<{ left: number; right: number }> {
  const urls = files.map((file) => `data:image/png;base64,${file.toString('base64')}`);
  return page.evaluate<{ left: number; right: number }>(`(async () => {
    const read = async (url) => {
      const image = Object.assign(new Image(), { src: url });
      await image.decode();
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, 320, 200).data;
    };
    const [before, after] = await Promise.all(${JSON.stringify(urls)}.map(read));
    const columns = [...before.keys()]
      .filter((at) => before[at] !== after[at])
      .map((at) => Math.floor(at / 4) % 320);
    return { left: Math.min(...columns), right: Math.max(...columns) };
  })()`);
}

/** A picture that is wider than high. */
async function pictureOf(page: Page): Promise<Buffer> {
  const base64 = await page.evaluate<string>(`(() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 200 });
    const context = canvas.getContext('2d');
    context.fillStyle = '#dfd8cc';
    context.fillRect(0, 0, 320, 200);
    context.fillStyle = '#b4600f';
    context.beginPath();
    context.ellipse(160, 110, 70, 45, 0, 0, 2 * Math.PI);
    context.fill();
    return canvas.toDataURL('image/png').split(',')[1];
  })()`);
  return Buffer.from(base64, 'base64');
}
