import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { startSeparateServer } from '../../scripts/client/separate-server.ts';
import { readConfig } from '../../server/src/config.ts';
import { safetensors } from '../../server/src/modules/hub/testing/clones.ts';
import { openPublicHub } from '../../server/src/modules/hub/testing/public-hub.ts';
import { createDataset } from '../create-dataset.ts';
import { journey, look, soakJourney, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const TOKEN = 'hf_of_the_journey';

/** Files of the starter language model on this machine. */
async function starterFiles(): Promise<Record<string, Buffer>> {
  const folder = path.join(readConfig(process.env).cacheDir, 'models');
  const name = (await readdir(folder)).find((one) => one.startsWith('smollm2'));
  if (!name) throw new Error('No starter model found. Run ./bakehouse up to prepare it.');
  const files = await readdir(path.join(folder, name));
  return Object.fromEntries(
    await Promise.all(
      files.map(async (file) => [file, await readFile(path.join(folder, name, file))] as const),
    ),
  );
}

const smol = { card: { license: 'apache-2.0' }, files: await starterFiles() };
const hub = await openPublicHub([
  { type: 'model', id: 'bakery/SmolLM2-135M-Instruct', downloads: 1_234_567, ...smol },
  // The file has the same bytes, so it is stored only once.
  { type: 'model', id: 'crust/SmolLM2-fork', downloads: 12, ...smol },
  {
    ...{ type: 'model', id: 'bakery/secret-rye', downloads: 90, gatedFor: ['ada-at-the-hub'] },
    ...{
      card: { license: 'other' },
      files: { 'README.md': '# Rye', 'model.safetensors': safetensors(3_000) },
    },
  },
  {
    ...{ type: 'model', id: 'bakery/old-rye', downloads: 7 },
    ...{ files: { 'pytorch_model.bin': Buffer.alloc(2_000, 1) } },
  },
  {
    ...{ type: 'dataset', id: 'bakery/loaves', downloads: 5 },
    ...{ files: { 'README.md': '# Loaves', 'rows.csv': 'question,answer\nRye?,Yes\nWheat?,No\n' } },
  },
]);
hub.accounts[TOKEN] = 'ada-at-the-hub';
afterAll(hub.close);
const server = await startSeparateServer({ BAKEHOUSE_SERVICE_URLS: `huggingface=${hub.url}` });
afterAll(server.stop);

/** Searches for a repository and opens its details. */
async function find(page: Page, words: string, repo: string): Promise<void> {
  await page.getByRole('searchbox', { name: 'Search the hub' }).fill(words);
  await page.getByRole('link', { name: repo }).click();
  await page.getByRole('dialog', { name: repo }).getByText('Space left').waitFor();
}

soakJourney(
  'a gated model requires a token, a failed clone can be retried, and pickles are not cloned',
  async ({ openPage, allowErrors }) => {
    allowErrors(/400 \(Bad Request\)|503 \(Service Unavailable\)/);
    const page = await openPage(server.url);
    await signUp(page);
    await page.goto('/model-hub?query=old-rye');
    await find(page, 'old-rye', 'bakery/old-rye');
    await page.getByText('Its weights are only Python pickles').waitFor();
    expect(await page.getByRole('button', { name: 'Clone', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();

    await find(page, 'secret', 'bakery/secret-rye');
    await page.getByText(/is gated: accept its terms/).waitFor();
    await look(page, 'model-hub-gated');
    await page.getByRole('dialog').getByRole('button', { name: 'Access token' }).click();
    await page.getByLabel('Token', { exact: true }).fill('hf_wrong');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The public hub does not know this token').waitFor();
    await look(page, 'hub-token');
    await page.getByLabel('Token', { exact: true }).fill(TOKEN);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/is gated: accept its terms/).waitFor({ state: 'detached' });

    hub.instead = (request, response, file) => {
      if (file !== 'model.safetensors') return undefined;
      response.writeHead(404).end();
      return true;
    };
    await page.getByRole('button', { name: 'Clone', exact: true }).click();
    await page.getByText('Error cloning the model').first().waitFor({ timeout: WORK_MS });
    await look(page, 'model-hub-failed');
    hub.instead = null;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'Open model' }).waitFor({ timeout: WORK_MS });

    await page.goto('/dataset');
    await page.getByRole('link', { name: 'Model hub' }).click();
    await find(page, 'loaves', 'bakery/loaves');
    await page.getByRole('button', { name: 'Clone', exact: true }).click();
    await page.getByRole('link', { name: 'Open dataset' }).click({ timeout: WORK_MS });
    await page.getByRole('tab', { name: 'Files (2)' }).waitFor();
  },
);

// Must be the last step, because its run continues.
journey(
  'a model is found on the Hub, cloned, deployed and chatted with, and the wizard fine-tunes a model that it clones first',
  { timeout: 2 * WORK_MS },
  async ({ openPage }) => {
    const page = await openPage(server.url);
    await signUp(page);
    await page.goto('/model');
    await page.getByRole('link', { name: 'Model hub' }).click();
    await page.getByText('bakery/SmolLM2-135M-Instruct').waitFor();
    await look(page, 'model-hub');
    await page.getByRole('tab', { name: 'Clones' }).click();
    await page.getByText('No clones yet').waitFor();
    await page.getByRole('tab', { name: 'Search' }).click();
    await find(page, 'smol', 'bakery/SmolLM2-135M-Instruct');
    await page.getByText('Can run on CPU.').waitFor();
    await look(page, 'model-hub-details');
    await page.getByRole('button', { name: 'Clone', exact: true }).click();
    await page
      .getByText('bakery/SmolLM2-135M-Instruct has been cloned')
      .first()
      .waitFor({ timeout: WORK_MS });
    await page.getByRole('button', { name: 'Show log' }).click();
    await page.getByText('Done: SmolLM2-135M-Instruct').waitFor();
    await look(page, 'model-hub-cloned');
    await page.getByRole('link', { name: 'Open model' }).click();
    await page.getByText('Cloned from').waitFor();
    await look(page, 'model-cloned');
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.waitForURL('**/my-deployments/*');
    const question = page.getByPlaceholder('Ask a question');
    await question.waitFor({ timeout: WORK_MS });
    await question.fill('What is bread?');
    await question.press('Enter');
    await page.getByText(/\d+ tokens? · first word after/).waitFor({ timeout: WORK_MS });

    // The wizard also searches the Hub. The run first clones the model.
    const rows = Array.from({ length: 12 }, (_, at) => `What is ${at}?,A loaf of ${at}\n`).join('');
    await createDataset(page, {
      name: 'Loaves',
      file: { name: 'loaves.csv', text: `question,answer\n${rows}` },
    });
    await page.goto('/dashboard?sheet=create-model');
    const sheet = page.getByRole('dialog', { name: 'Create Model' });
    const next = sheet.getByRole('button', { name: 'Continue' });
    await sheet.getByRole('radio', { name: /Fine-tune a model from the hub/ }).click();
    await next.click();
    await sheet.getByLabel('Model name').fill('Crumb of the hub');
    await next.click();
    const field = sheet.getByRole('combobox', { name: 'Hub model' });
    await field.fill('fork');
    await page.getByRole('option', { name: /crust\/SmolLM2-fork/ }).click();
    await sheet.getByText('This model will be cloned first').waitFor();
    await look(page, 'wizard-hub-model');
    await next.click();
    await sheet.getByLabel('Gradient accumulation').waitFor();
    await next.click();
    await sheet.getByText('12 examples').waitFor({ timeout: WORK_MS });
    await sheet.getByText(/is cloned from the public hub first/).waitFor();
    await look(page, 'wizard-hub-review');
    await sheet.getByRole('button', { name: 'Start training' }).click();
    await sheet.getByText('Your model is fine-tuning!').waitFor({ timeout: WORK_MS });
    await sheet.getByRole('link', { name: 'Manage Model' }).click();
    await page.getByText('Made from').waitFor({ timeout: WORK_MS });
    await page.getByRole('link', { name: 'SmolLM2-fork' }).click();
    await page.getByText('Cloned from').waitFor();
  },
);
