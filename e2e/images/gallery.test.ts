import { startGeneration } from '@bakehouse/contract/generations';
import { expect, inject } from 'vitest';
import { Client } from '../../scripts/client/client.ts';
import { waitForMachine } from '../../scripts/client/machine-ready.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const prompts = ['a red apple', 'a green pear', 'a yellow lemon'];

journey(
  'pictures are chosen by the keys, compared, downloaded as one zip, and put into a dataset',
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    const user = await signUp(page);
    const client = await Client.signIn(inject('baseUrl'), { ...user, name: user.username });
    await waitForMachine(client);
    const parameters = { num_inference_steps: 10, sampling_strategy: 'top1' };
    for (const prompt of prompts)
      await client.call(startGeneration, { body: { generator: 'paris', prompt, parameters } });
    await page.goto('/gallery');
    const box = (prompt: string) => page.getByRole('checkbox', { name: `Choose ${prompt}` });
    for (const prompt of prompts) await box(prompt).waitFor({ timeout: WORK_MS });

    await box('a yellow lemon').focus();
    await page.keyboard.press('Space');
    await box('a red apple').focus();
    await page.keyboard.press('Shift+Space');
    const bar = page.getByRole('region', { name: 'Chosen pictures' });
    await bar.getByText('3 chosen').waitFor();
    await page.keyboard.press('Escape');
    await bar.waitFor({ state: 'detached' });
    await box('a green pear').click();
    await page.keyboard.press('Control+a');
    await bar.getByText('3 chosen').waitFor();
    await look(page, 'gallery-chosen');

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      bar.getByRole('button', { name: 'Download zip' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('pictures.zip');
    expect(await download.failure()).toBeNull();

    await bar.getByRole('button', { name: 'Train on them' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Fruit');
    await look(page, 'gallery-train');
    await dialog.getByRole('button', { name: 'Add pictures' }).click();
    await page.getByText('3 pictures added to “Fruit”').waitFor();
    await page.getByRole('button', { name: 'Open the dataset' }).click();
    await page.getByRole('heading', { name: 'Fruit' }).waitFor();
    await page.getByText('metadata.jsonl').first().waitFor();
    await look(page, 'gallery-dataset');

    await page.goto('/gallery');
    await box('a red apple').click();
    await box('a green pear').click();
    await bar.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('rowheader', { name: 'Prompt' }).waitFor();
    await look(page, 'gallery-compared');
    await page.getByRole('link', { name: 'a red apple', exact: true }).first().click();
    const model = page.getByRole('link', { name: 'Paris starter' });
    await model.waitFor();
    await look(page, 'generation-drawn-by');
    await model.click();
    await page.getByRole('heading', { name: 'Paris starter' }).waitFor();
  },
);
