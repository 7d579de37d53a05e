import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { assetInfo, createAsset, deleteAsset, getAsset, listAssets } from '@bakehouse/contract/assets';
import { getLedger, getUsageWindow, listSpend, listTransactions } from '@bakehouse/contract/credits';
import { listVllm } from '@bakehouse/contract/deployments/text';
import { listRuns } from '@bakehouse/contract/runs';
import { readConfig } from '../../server/src/config.ts';
import { makeOperator } from '../../server/src/modules/accounts/users.ts';
import { verifyLedger } from '../../server/src/modules/billing/verification/verify-ledger.ts';
import { systemClock } from '../../server/src/platform/clock.ts';
import { connect } from '../../server/src/platform/db/database.ts';
import { readOrMakeSecret } from '../../server/src/platform/files/data-files.ts';
import { Client } from '../client/client.ts';
import { type SeparateServer, startSeparateServer } from '../client/separate-server.ts';
import { findLarge, RARE_TAG } from '../scale/fill-assets.ts';
import { fillScale, findKeyId } from '../scale/fill-scale.ts';
import { sizesOf } from '../scale/sizes.ts';
import { type Measured, median } from './measured.ts';

/** Fraction for the small installation: a thousand assets and ten thousand transfers. */
const SMALL = 0.001;
const PAIRS = 15;
/** Number of pages before the late page that is measured. */
const PAGES = 50;
/** Limit for ten million transfers, and also for fewer. */
const VERIFY_SECONDS = 120;
const OPERATOR = 'operator@example.com';
/** Sampling interval of the event loop's histogram. Even an idle loop shows this delay. */
const RESOLUTION_MS = 10;

/** An installation, with the inputs for its calls. */
type Place = {
  server: SeparateServer;
  client: Client;
  operator: Client;
  file: string;
  largeId: string;
  /** The API key of half of the user's charges. */
  keyId: string;
  /** A usage window of this key. */
  windowId: string;
  /** A day on which there were transfers. */
  day: string;
  lateAssets: string;
  lateTransactions: string;
};

type Call = {
  name: string;
  /** Preparation that is not timed, such as creating the dataset that is then deleted. */
  prepare?: (place: Place) => Promise<string>;
  run: (place: Place, prepared: string) => Promise<unknown>;
};

const statement = (
  { client }: Place,
  query: { from?: string; to?: string; key_id?: string; cursor?: string },
) => client.call(listTransactions, { params: { userId: client.userId }, query });
const assets = (
  { client }: Place,
  query: { search?: string; tag?: string; sort?: 'title'; cursor?: string },
) => client.call(listAssets, { query: { types: 'RAW', owner: client.userId, ...query } });

async function makeDataset({ client, file }: Place): Promise<string> {
  const title = `Bench ${randomUUID()}`;
  const id = await client.call(createAsset, {
    body: { dataset_type: 'RAW', title, user_id: client.userId },
  });
  await client.upload(id, file);
  return id;
}

const calls: Call[] = [
  { name: 'datasets, first page', run: (place) => assets(place, {}) },
  { name: 'datasets, late page', run: (place) => assets(place, { cursor: place.lateAssets }) },
  { name: 'datasets, search', run: (place) => assets(place, { search: 'rye, batch 90' }) },
  { name: 'datasets by a tag', run: (place) => assets(place, { tag: RARE_TAG }) },
  { name: 'datasets by name', run: (place) => assets(place, { sort: 'title' }) },
  {
    name: 'datasets with starters',
    run: ({ client }) =>
      client.call(listAssets, { query: { types: 'MODEL', owner: client.userId, include_starter: 'true' } }),
  },
  {
    name: 'one of many files',
    run: ({ client, largeId }) =>
      client.call(assetInfo, { params: { id: largeId }, query: { path: 'part-000/000005.csv' } }),
  },
  {
    name: 'dataset with many files',
    run: ({ client, largeId }) => client.call(getAsset, { params: { id: largeId } }),
  },
  {
    name: 'upload among many files',
    run: ({ client, largeId, file }) => client.upload(largeId, file),
  },
  {
    name: 'delete a dataset',
    prepare: makeDataset,
    run: ({ client }, id) => client.send(deleteAsset, { params: { id } }),
  },
  { name: 'statement, first page', run: (place) => statement(place, {}) },
  {
    name: 'statement, late page',
    run: (place) => statement(place, { cursor: place.lateTransactions || undefined }),
  },
  { name: 'statement, a day', run: (place) => statement(place, { from: place.day, to: place.day }) },
  { name: 'statement of a key', run: (place) => statement(place, { key_id: place.keyId }) },
  {
    name: 'answers of a usage window',
    run: ({ client, windowId }) => client.call(getUsageWindow, { params: { windowId }, query: {} }),
  },
  {
    name: 'spending of a day',
    run: ({ client, day }) =>
      client.call(listSpend, { params: { userId: client.userId }, query: { from: day, to: day } }),
  },
  { name: 'ledger page', run: ({ operator }) => operator.call(getLedger, {}) },
  {
    name: 'deployments',
    run: ({ client }) => client.call(listVllm, { params: { userId: client.userId }, query: {} }),
  },
  { name: 'runs', run: ({ client }) => client.call(listRuns, { query: {} }) },
];

/** Measures calls on a large installation compared with a small one, and stalls of the event loop. */
export async function measureScale(fraction: number): Promise<Measured[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-bench-'));
  const file = path.join(folder, 'bench.csv');
  await writeFile(file, 'question,answer\nWhat rises?,Dough\n');
  const servers: SeparateServer[] = [];
  try {
    const small = await makePlace({ fraction: SMALL, file, servers });
    const large = await makePlace({ fraction, file, servers });
    const measured: Measured[] = [];
    for (const call of calls) measured.push(...(await compare(call, small, large)));
    return [...measured, await timeProof(large)];
  } finally {
    for (const server of servers) await server.stop();
    await rm(folder, { recursive: true });
  }
}

async function makePlace({
  fraction,
  file,
  servers,
}: {
  fraction: number;
  file: string;
  servers: SeparateServer[];
}): Promise<Place> {
  const server = await startSeparateServer({ BAKEHOUSE_PREPARE: 'false', BAKEHOUSE_OPERATORS: OPERATOR });
  servers.push(server);
  const account = { name: 'Bench', email: 'bench@example.com', password: 'sourdough-starter' };
  const client = await Client.signUp(server.url, account);
  const db = connect(await server.databaseUrl());
  try {
    console.error(`Filling ${fraction} of the large installation ...`);
    const print = (line: string) => console.error(`  ${line}`);
    await fillScale(db, { sizes: sizesOf(fraction), client, file, print });
    const config = { ...readConfig(process.env), operators: [OPERATOR] };
    config.secret = await readOrMakeSecret(server.dataDir);
    const { password } = await makeOperator({ config, db, clock: systemClock }, { email: OPERATOR });
    const operator = await Client.signIn(server.url, { name: 'Operator', email: OPERATOR, password });
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const [largeId, keyId] = [await findLarge(client), await findKeyId(client)];
    const windowId = await findWindowId(client, keyId);
    const place = { server, client, operator, file, largeId, keyId, windowId, day: yesterday };
    return { ...place, ...(await turnPages({ ...place, lateAssets: '', lateTransactions: '' })) };
  } finally {
    await db.destroy();
  }
}

/** Returns the id of the newest usage window in the statement of a key. */
async function findWindowId(client: Client, keyId: string): Promise<string> {
  const { transactions } = await client.call(listTransactions, {
    params: { userId: client.userId },
    query: { key_id: keyId, limit: 200 },
  });
  const line = transactions.find(({ usage_window_id }) => usage_window_id !== null);
  if (!line?.usage_window_id) throw new Error('The statement has no usage window.');
  return line.usage_window_id;
}

/** Returns the cursors of late pages, or of the last page if there are fewer. */
async function turnPages(place: Place): Promise<Pick<Place, 'lateAssets' | 'lateTransactions'>> {
  const late = { lateAssets: '', lateTransactions: '' };
  for (let page = 0; page < PAGES; page++) {
    const { next_cursor } = await assets(place, late.lateAssets ? { cursor: late.lateAssets } : {});
    if (next_cursor === null) break;
    late.lateAssets = next_cursor;
  }
  for (let page = 0; page < PAGES; page++) {
    const cursor = late.lateTransactions;
    const { next_cursor } = await statement(place, cursor ? { cursor } : {});
    if (next_cursor === null) break;
    late.lateTransactions = next_cursor;
  }
  return late;
}

async function compare({ name, prepare, run }: Call, small: Place, large: Place): Promise<Measured[]> {
  const times = { small: [] as number[], large: [] as number[] };
  const timed = async (place: Place) => {
    const prepared = (await prepare?.(place)) ?? '';
    const start = performance.now();
    await run(place, prepared);
    return performance.now() - start;
  };
  // The first call of each makes query plans and fills caches, so do not measure it.
  await Promise.all([timed(small), timed(large)]);
  const stalls: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    times.small.push(await timed(small));
    await measureLongestStallMs(large);
    times.large.push(await timed(large));
    stalls.push(await measureLongestStallMs(large));
  }
  return [
    {
      name,
      unit: 'ms',
      ours: median(times.large),
      reference: { what: 'on the small one', value: median(times.small) },
      goal: { kind: 'ratio at most', value: 2 },
    },
    {
      name: '  longest stall',
      unit: 'ms',
      // The longest stall, because no call may block the others. On a busy machine, another program may have
      // caused it.
      ours: Math.max(...stalls),
      goal: { kind: 'less than', value: 50 },
    },
  ];
}

/** Measures how long proving the ledger takes. Throws if the ledger is inconsistent. */
async function timeProof({ server }: Place): Promise<Measured> {
  const db = connect(await server.databaseUrl());
  try {
    const start = performance.now();
    const report = await verifyLedger(db);
    const seconds = (performance.now() - start) / 1000;
    const broken = report.checks.find(({ ok }) => !ok);
    if (broken) throw new Error(`The ledger is inconsistent: ${broken.detail}`);
    return {
      name: `ledger verify of ${report.transfers.toLocaleString('en')}`,
      unit: 's',
      ours: seconds,
      goal: { kind: 'less than', value: VERIFY_SECONDS },
    };
  } finally {
    await db.destroy();
  }
}

/** Returns the longest stall since the last call. The server resets this metric whenever it is read. */
async function measureLongestStallMs({ server }: Place): Promise<number> {
  const metrics = await (await fetch(new URL('/metrics', server.url))).text();
  const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics)?.[1];
  if (!seconds) throw new Error('The server does not report how long its event loop stalled.');
  return Math.max(0, Number(seconds) * 1000 - RESOLUTION_MS);
}
