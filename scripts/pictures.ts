import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listAssets } from '@bakehouse/contract/assets';
import { deployVllm, listVllm } from '@bakehouse/contract/deployments/text';
import { createImage } from '@bakehouse/contract/openai-images';
import { listRuns } from '@bakehouse/contract/runs';
import { type Browser, launchChromium, type Page } from '../e2e/chromium.ts';
import { Client, findServer } from './client/client.ts';
import { followRun, startFactsFineTune } from './client/fine-tune.ts';
import { findStarterModel, waitForMachine } from './client/machine-ready.ts';
import type { Command } from './command.ts';
import { PlainError } from './plain-error.ts';
import { root } from './root.ts';
import { account, seed } from './seed.ts';

/** The landing page expects this size: 1800 x 1125. */
const SIZE = { width: 1440, height: 900 };
const DENSITY = 1.25;
/** A page that does not respond for this long hangs. */
const ANSWER_MS_MAX = 300_000;
const QUALITY = 80;
const prompts = [
  'a panda on a yellow background',
  'a camel in the desert',
  'a red mushroom on grass',
  'a hamburger on a table',
  'a sailboat on water',
  'a penguin in the snow',
  'a rocket in the sky',
  'a blue gem stone',
  'a trophy',
  'a circus tent on grass',
];
/** With these, the answers that the run's page shows are right. */
const LEARNING = { epochs: 6, seed: 7 };
const questions = ['What is the name of the house sourdough starter?', 'At which hour do the ovens open?'];

/**
 * Takes the landing page's screenshots on the running server. They show the example account's dataset,
 * fine-tune, deployment, gallery and bill, which are created if they are missing.
 */
export const pictures: Command = async (args) => {
  await seed({ ...args, scale: false });
  const url = await findServer();
  const client = await Client.signIn(url, account);
  const subjects = await makeSubjects(client);
  const browser = await launchChromium();
  try {
    for (const theme of ['light', 'dark'] as const)
      await captureAll(await signIn(browser, url, theme), subjects, theme);
  } finally {
    await browser.close();
  }
  return 0;
};

/** Pages of the dataset, the run, the deployment, the gallery and the bill. */
async function captureAll(page: Page, { run, dataset, pod }: Subjects, theme: string): Promise<void> {
  await page.goto(`/dataset/${dataset}/description?tab=rows`);
  await page.getByRole('table').first().waitFor();
  await capturePicture(page, `rows-${theme}`);
  await page.goto(`/runs/${run}`);
  await page.locator('.uplot').first().waitFor();
  await capturePicture(page, `run-${theme}`);
  await page.goto(`/my-deployments/${pod}`);
  const begin = page.getByRole('button', { name: 'New conversation' });
  await begin.waitFor();
  // The page shows the last conversation.
  if (await begin.isEnabled()) await begin.click();
  for (const question of questions) {
    await page.getByRole('textbox', { name: 'Message' }).fill(question);
    await page.keyboard.press('Enter');
    await page.getByText(question).waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached', timeout: ANSWER_MS_MAX });
  }
  await capturePicture(page, `chat-${theme}`);
  await page.goto('/gallery');
  await page
    .getByRole('link', { name: prompts.at(-1) ?? '', exact: true })
    .first()
    .waitFor();
  await capturePicture(page, `gallery-${theme}`);
  await page.goto('/transactions');
  await page.locator('.uplot').first().waitFor();
  await capturePicture(page, `bill-${theme}`);
}

async function signIn(browser: Browser, url: string, theme: 'light' | 'dark'): Promise<Page> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: SIZE,
    deviceScaleFactor: DENSITY,
    colorScheme: theme,
    reducedMotion: 'reduce',
  });
  await context.request.post('/api/auth/sign-in/email', { data: account, headers: { origin: url } });
  await context.addInitScript({ content: "localStorage.setItem('bakehouse.session', 'expected')" });
  return context.newPage();
}

type Subjects = { dataset: string; run: string; pod: string };

/** Returns the ids of a fine-tune that has learnt its dataset, its dataset and its deployment. */
async function makeSubjects(client: Client): Promise<Subjects> {
  await waitForMachine(client);
  const own = await client.call(listAssets, { query: { types: 'RAW', owner: client.userId } });
  const dataset = own.datasets[0]?.dataset_id;
  if (!dataset) throw new PlainError('The example account has no dataset.');
  const { asset: base } = await findStarterModel(client);
  const { runs } = await client.call(listRuns, { query: {} });
  const model =
    runs.find(({ state }) => state !== 'failed' && state !== 'cancelled')?.model_id ??
    (await startFactsFineTune(client, { dataset, base: base.dataset_id, ...LEARNING }));
  const { run_id: run } = await followRun(client, model, async ({ progress }) =>
    console.log(`    the fine-tune is at ${Math.floor(progress)} %`),
  );
  const { pods } = await client.call(listVllm, {
    params: { userId: client.userId },
    query: { model_id: model },
  });
  const pod =
    pods[0]?.pod_id ??
    (await client.call(deployVllm, { body: { user_id: client.userId, model_id: model } })).pod_id;
  await generatePictures(client);
  return { dataset, run, pod };
}

/** Generates the first images of the gallery. */
async function generatePictures(client: Client): Promise<void> {
  for (const prompt of prompts) {
    await client.call(createImage, { body: { prompt } });
    console.log(`    generated ${prompt}`);
  }
}

/** Takes a screenshot through Chromium, because Playwright cannot write WebP. */
async function capturePicture(page: Page, name: string): Promise<void> {
  // Hides transient messages.
  await page.addStyleTag({ content: '[data-sonner-toaster] { display: none }' });
  // Wait a fixed time, because the event stream never ends and so the network is never idle.
  await sleep(1500);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  const folder = path.join(root, 'web', 'public', 'pictures');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, `${name}.webp`), Buffer.from(data, 'base64'));
  console.log(`took ${name}`);
}
