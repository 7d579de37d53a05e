import { buffer as bytesOf } from 'node:stream/consumers';
import { expect } from 'vitest';
import { journey, look, soakJourney, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey(
  'a prompt becomes a video, which is played, downloaded and found again',
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await page.goto('/wan');
    await page.getByRole('group', { name: 'Price' }).getByText(/^\$/).waitFor({ timeout: WORK_MS });
    await page.getByText('64 × 64, about 2 seconds').waitFor();
    await page.getByText('16 steps, guidance 3').waitFor();
    await look(page, 'wan-empty');

    const prompt = 'a red apple moves to the right';
    await page.getByRole('button', { name: prompt }).click();
    expect(await page.getByLabel('Prompt').inputValue()).toBe(prompt);
    await page.getByRole('radio', { name: 'Draft' }).click();
    await page.getByText('8 steps, guidance 3').waitFor();
    await page.locator('[aria-label="Price"][aria-busy="false"]').waitFor();
    await page.getByRole('button', { name: 'Generate' }).click();
    const results = page.getByRole('region', { name: 'Results' });
    await results.locator('video').waitFor({ timeout: WORK_MS });
    await results.getByText('64 × 64 pixels').waitFor();
    await look(page, 'wan-done');

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      results.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^wan-[0-9a-f]{8}\.mp4$/);
    const file = await bytesOf(await download.createReadStream());
    expect(file.subarray(4, 8).toString()).toBe('ftyp');

    await page.goto('/gallery');
    await page.getByRole('link', { name: `${prompt}, a video` }).click();
    await page.getByRole('heading', { level: 1, name: 'Wan starter video' }).waitFor();
    await page.getByText('wan-starter').waitFor();
    await page.getByText('2 seconds', { exact: true }).waitFor();
    await look(page, 'wan-generation');
  },
);

soakJourney(
  'the starter makes a video on the page of a model that is not connected, and shows which model is used',
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await page.goto('/veo');
    await page.getByText('A small starter model is used instead.').waitFor({ timeout: WORK_MS });
    await page.getByText('64 × 64, about 2 seconds, silent').waitFor();
    await page.getByRole('button', { name: 'a lemon moves up' }).click();
    await page.locator('[aria-label="Price"][aria-busy="false"]').waitFor();
    for (const label of ['Duration', 'Quality', 'Sound'])
      expect(await page.getByLabel(label).count()).toBe(0);
    await look(page, 'veo-stand-in');
    await page.getByRole('button', { name: 'Generate' }).click();
    const results = page.getByRole('region', { name: 'Results' });
    await results.locator('video').waitFor({ timeout: WORK_MS });
    await results.getByText('64 × 64 pixels').waitFor();
    await look(page, 'veo-done');
  },
);
