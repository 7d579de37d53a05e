import { createImage } from '@bakehouse/contract/openai-images';
import { Client } from '../client/client.ts';
import { waitForMachine } from '../client/machine-ready.ts';
import { startSeparateServer } from '../client/separate-server.ts';
import { type BarePipeline, startBarePipeline } from './bare-pipeline.ts';
import { type Measured, median, medianPair, type Pair } from './measured.ts';
import { findProcesses, peakMemoryMb } from './memory.ts';

/** Number of sampling steps that OpenAI's call uses on this server. */
const STEPS = 20;
const ROUNDS = 7;
const CROWDS = [4, 16];
const CROWD_ROUNDS = 3;
/** Number of images that are generated one after the other for the comparison. */
const ALONE = 4;
/** Number of users, because each may have at most eight waiting or running generations. */
const USERS = 4;
/** Minimum speedup by batching, on the CPU that serves the starter. */
const GAIN = 1.5;

const prompts = ['A red bus on a street', 'A cat on a sofa', 'A horse in a field', 'A pizza on a plate'];

/**
 * Measures images of the starter through the whole product: the time of one image compared with the bare
 * pipeline, the rate of concurrent requests compared with sequential ones, and the memory of the model
 * server.
 */
export async function measurePictures(): Promise<Measured[]> {
  const bare = await startBarePipeline('pictures.py', 'starter-paris', ['--steps', String(STEPS)]);
  try {
    const server = await startSeparateServer();
    try {
      const users = await Promise.all(Array.from({ length: USERS }, (_, index) => signUp(server.url, index)));
      const [user] = users;
      if (!user) throw new Error('No user has signed up.');
      await waitForMachine(user);
      // Wakes the model server.
      await generate(user, 0);
      const lines = [await compareSingle(user, bare), ...(await compareCrowds(users))];
      const pids = await findProcesses('bakehouse_runtime', 'serve', server.dataDir);
      const peaks = await Promise.all(pids.map(peakMemoryMb));
      return [...lines, { name: 'model server of pictures, peak', unit: 'MB', ours: Math.max(...peaks) }];
    } finally {
      await server.stop();
    }
  } finally {
    bare.stop();
  }
}

function signUp(url: string, index: number): Promise<Client> {
  return Client.signUp(url, {
    name: 'Bench',
    email: `bench${index}@example.com`,
    password: 'sourdough-starter',
  });
}

function promptOf(index: number): string {
  return prompts[index % prompts.length] ?? '';
}

async function generate(user: Client, index: number): Promise<void> {
  await user.call(createImage, { body: { prompt: promptOf(index), response_format: 'b64_json' } });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

async function compareSingle(user: Client, bare: BarePipeline): Promise<Measured> {
  const rounds: Pair[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const ours = await timed(() => generate(user, round));
    rounds.push({ ours, theirs: await bare.seconds(promptOf(round)) });
  }
  const { ours, theirs } = medianPair(rounds);
  return {
    name: 'a picture',
    unit: 's',
    ours,
    reference: { what: 'bare pipeline', value: theirs },
    goal: { kind: 'ratio at most', value: 1.05 },
  };
}

async function compareCrowds(users: Client[]): Promise<Measured[]> {
  const [user] = users;
  if (!user) return [];
  const alone: number[] = [];
  const crowds = new Map<number, Pair[]>(CROWDS.map((size) => [size, []]));
  for (let round = 0; round < CROWD_ROUNDS; round += 1) {
    for (const [size, pairs] of crowds) {
      const theirs = perMinute(ALONE, await timed(() => oneByOne(user)));
      const ours = perMinute(size, await timed(() => atOnce(users, size)));
      alone.push(theirs);
      pairs.push({ ours, theirs });
    }
  }
  return [
    { name: 'pictures, one by one', unit: '/min', ours: median(alone) },
    ...[...crowds].map(([size, pairs]): Measured => {
      const { ours, theirs } = medianPair(pairs);
      return {
        name: `pictures, ${size} at once`,
        unit: '/min',
        ours,
        reference: { what: 'one by one', value: theirs },
        goal: { kind: 'ratio at least', value: GAIN },
      };
    }),
  ];
}

function perMinute(pictures: number, seconds: number): number {
  return (60 * pictures) / seconds;
}

async function oneByOne(user: Client): Promise<void> {
  for (let index = 0; index < ALONE; index += 1) await generate(user, index);
}

async function atOnce(users: Client[], size: number): Promise<void> {
  await Promise.all(
    Array.from({ length: size }, async (_, index) => {
      const user = users[index % users.length];
      if (user) await generate(user, index);
    }),
  );
}
