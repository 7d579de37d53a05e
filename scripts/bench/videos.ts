import { setTimeout as sleep } from 'node:timers/promises';
import { type Generation, getGeneration, startGeneration } from '@bakehouse/contract/generations';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { type Browser, launchChromium } from '../../e2e/chromium.ts';
import { Client } from '../client/client.ts';
import { waitForMachine } from '../client/machine-ready.ts';
import { startSeparateServer } from '../client/separate-server.ts';
import { type BarePipeline, startBarePipeline } from './bare-pipeline.ts';
import { type Measured, median, medianPair, type Pair } from './measured.ts';

const ROUNDS = 5;
/** Polling interval during generation. On average, half of it is added to our time. */
const POLL_MS = 50;
const prompts = ['a red apple spins', 'a duck moves to the left', 'a taxi comes nearer', 'a lemon moves up'];

/** Measures videos through the whole product, compared with Diffusers' pipeline, and the first frame. */
export async function measureVideos(): Promise<Measured[]> {
  const bare = await startBarePipeline('videos.py', 'starter-wan');
  try {
    const server = await startSeparateServer();
    try {
      const browser = await launchChromium();
      try {
        return await compare(server.url, bare, browser);
      } finally {
        await browser.close();
      }
    } finally {
      await server.stop();
    }
  } finally {
    bare.stop();
  }
}

async function compare(url: string, bare: BarePipeline, browser: Browser): Promise<Measured[]> {
  const account = { name: 'Bench', email: 'bench@example.com', password: 'sourdough-starter' };
  const user = await Client.signUp(url, account);
  await waitForMachine(user);
  // Wakes the model server.
  await generate(user, 0);
  const pairs: Pair[] = [];
  const firstFrames: FirstFrame[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    const video = await generate(user, round);
    const ours = (performance.now() - start) / 1000;
    pairs.push({ ours, theirs: await bare.seconds(promptOf(round)) });
    firstFrames.push(await playFirstFrame(browser, url, video));
  }
  const { ours, theirs } = medianPair(pairs);
  return [
    {
      name: 'a video',
      unit: 's',
      ours,
      reference: { what: "Diffusers' pipeline", value: theirs },
      goal: { kind: 'ratio at most', value: 1.1 },
    },
    { name: 'first frame of a video', unit: 'ms', ours: median(firstFrames.map(({ ms }) => ms)) },
    { name: 'bytes to its first frame', unit: 'kB', ours: median(firstFrames.map(({ kB }) => kB)) },
  ];
}

function promptOf(round: number): string {
  return prompts[round % prompts.length] ?? '';
}

/** Uses the starter's default steps and guidance, like its page. */
async function generate(user: Client, round: number): Promise<Generation> {
  const { starter }: Generator = generators.wan;
  const parameters = starter?.qualities.find(({ label }) => label === starter.opensOn)?.settings;
  let generation = await user.call(startGeneration, {
    body: { generator: 'wan', prompt: promptOf(round), parameters },
  });
  while (generation.ended_at === null) {
    await sleep(POLL_MS);
    generation = await user.call(getGeneration, { params: { id: generation.id } });
  }
  if (generation.state !== 'completed')
    throw new Error(`The video is ${generation.state}: ${generation.reason}`);
  return generation;
}

type FirstFrame = { ms: number; kB: number };

/** Returns the time from loading the video's URL to its first frame, in a browser with an empty cache. */
async function playFirstFrame(browser: Browser, url: string, { outputs }: Generation): Promise<FirstFrame> {
  const page = await browser.newPage({ baseURL: url });
  try {
    await page.goto('/healthz');
    return await page.evaluate<FirstFrame>(`new Promise((resolve, reject) => {
      const video = Object.assign(document.createElement('video'), { muted: true, preload: 'auto' });
      const start = performance.now();
      video.onerror = () => reject(new Error(video.error.message));
      video.onloadeddata = () => {
        const ms = performance.now() - start;
        const entries = performance.getEntriesByType('resource').filter(({ initiatorType }) => initiatorType === 'video');
        resolve({ ms, kB: entries.reduce((sum, { transferSize }) => sum + transferSize, 0) / 1000 });
      };
      video.src = ${JSON.stringify(outputs[0]?.url)};
      document.body.append(video);
    })`);
  } finally {
    await page.close();
  }
}
