import { execFileSync } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import { type Generation, getGeneration, startGeneration } from '@bakehouse/contract/generations';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { Client } from '../../scripts/client/client.ts';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';
import { startServiceServer } from './service-server.ts';

const { server } = await startServiceServer();

/** Returns the file names in a zip. */
function namesIn(zip: Buffer): string[] {
  const program =
    'import io, json, sys, zipfile; print(json.dumps(zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())).namelist()))';
  return JSON.parse(execFileSync('python3', ['-c', program], { input: zip }).toString()) as string[];
}

/** Signs up a user who has one picture per prompt, newest first. */
async function generated(
  page: Page,
  url: string,
  pictures: readonly Pick<Generation, 'prompt' | 'parameters'>[],
): Promise<void> {
  const user = await signUp(page);
  const client = await Client.signIn(url, { ...user, name: user.username });
  for (const picture of pictures) {
    const { id } = await client.call(startGeneration, { body: { generator: 'hidream', ...picture } });
    const state = async () => (await client.call(getGeneration, { params: { id } })).state;
    await expect.poll(state).toBe('completed');
  }
}

journey(
  'pictures are selected in the gallery by mouse and keyboard, compared, and downloaded as one zip',
  async ({ openPage }) => {
    const page = await openPage(server.url);
    await generated(page, server.url, [
      { prompt: 'a rye loaf', parameters: { seed: 7 } },
      { prompt: 'a wheat loaf', parameters: { seed: 7 } },
      { prompt: 'a spelt loaf', parameters: { seed: 8, aspect_ratio: '16:9' } },
    ]);
    await page.goto('/gallery');
    const box = (prompt: string) => page.getByRole('checkbox', { name: `Select ${prompt}` });
    const bar = page.getByRole('region', { name: 'Selected pictures' });
    await box('a spelt loaf').click();
    expect(await bar.getByRole('button', { name: 'Compare' }).isDisabled()).toBe(true);
    await box('a rye loaf').click({ modifiers: ['Shift'] });
    await bar.getByText('3 selected').waitFor();
    await look(page, 'gallery-chosen');
    await box('a rye loaf').press('Escape');
    await bar.waitFor({ state: 'detached' });

    await box('a rye loaf').click();
    await box('a spelt loaf').click();
    await bar.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('heading', { name: 'Side by side' }).waitFor();
    const differences = page.getByRole('table', { name: 'Where they differ' });
    await differences.getByRole('row', { name: 'Aspect ratio Wide, 16:9 Square, 1:1' }).waitFor();
    await differences.getByRole('row', { name: 'Seed 8 7' }).waitFor();
    await look(page, 'gallery-compared');
    // The URL contains the selection, so it survives a reload.
    await page.reload();
    await differences.getByRole('row', { name: 'Prompt a spelt loaf a rye loaf' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await differences.waitFor({ state: 'detached' });

    await box('a wheat loaf').press('Control+a');
    await bar.getByText('3 selected').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      bar.getByRole('button', { name: 'Download zip' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('pictures.zip');
    const names = namesIn(await buffer(await download.createReadStream()));
    expect(names.map((name) => name.replace(/-[0-9a-f]{12}\.png$/, ''))).toEqual([
      'a-spelt-loaf',
      'a-wheat-loaf',
      'a-rye-loaf',
    ]);
  },
);
