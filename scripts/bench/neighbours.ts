import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createAsset, downloadFile } from '@bakehouse/contract/assets';
import { readConfig } from '../../server/src/config.ts';
import { runtimeDir } from '../../server/src/engine/machine/environment/environment.ts';
import { runtimeCommand } from '../../server/src/engine/machine/runtime-command.ts';
import { atLowPriority } from '../../server/src/platform/processes/low-priority.ts';
import { Client } from '../client/client.ts';
import { findStarterModel, waitForMachine } from '../client/machine-ready.ts';
import { type OwnServer, startOwnServer } from '../client/own-server.ts';
import { ask } from './ask.ts';
import { type Attack, attacks, type Target } from './attacker.ts';
import { type Measured, median } from './measured.ts';

const ATTACKER = fileURLToPath(new URL('./attacker.ts', import.meta.url));
const PASSWORD = 'sourdough-starter';
const LOOKS = 400;
const DOWNLOADS = 100;
const ANSWERS = 9;
const ANSWER_TOKENS = 32;
const DOWNLOAD_BYTES = 1_000_000;
/** An attack has begun to bite, and the one before it has been got over. */
const SETTLING_MS = 4000;
const GIVEN_UP_MS = 30_000;
/** Slower by a third at most. */
const LEAST = 0.75;

/** Seconds of what another user does: a look at the server's health, a download, an answer of the starter model. */
type Seconds = { health: number; download: number; chat: number };
type Victim = () => Promise<Seconds>;

/** What each attack that one user, or a stranger, could make does to another user of the same server. */
export async function measureNeighbours(): Promise<Measured[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-bench-'));
  // With the limits that an installation has.
  const server = await startOwnServer({ BAKEHOUSE_RATE_LIMITS: '' });
  try {
    const victim = await makeVictim(server, folder);
    const target = await makeTarget(server, folder);
    const measured: Measured[] = [];
    for (const attack of Object.keys(attacks) as Attack[]) {
      await pause(SETTLING_MS);
      const before = await victim();
      const during = await besideAttack(attack, target, victim);
      measured.push(
        ...(['health', 'download', 'chat'] as const).map((what) => compare(attack, what, before, during)),
      );
    }
    return measured;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

function compare(attack: Attack, what: keyof Seconds, before: Seconds, during: Seconds): Measured {
  return {
    name: `${what} beside ${attack}`,
    unit: '/s',
    ours: 1 / during[what],
    reference: { what: 'undisturbed', value: 1 / before[what] },
    goal: { kind: 'ratio at least', value: LEAST },
  };
}

async function besideAttack(attack: Attack, target: Target, victim: Victim): Promise<Seconds> {
  // Somebody else's machine makes the requests: here they get only what the server leaves over, and
  // never a core that the victim could use.
  const [priority = '', ...rest] = atLowPriority;
  const attacker = spawn(
    priority,
    [...rest, process.execPath, ATTACKER, JSON.stringify({ attack, ...target })],
    // In a session of its own, which alone is lowered.
    { detached: true, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const ended = new Promise((resolve) => attacker.once('close', resolve));
  try {
    await pause(SETTLING_MS);
    return await victim();
  } finally {
    attacker.kill('SIGKILL');
    await ended;
  }
}

async function makeVictim(server: OwnServer, folder: string): Promise<Victim> {
  const client = await signUp(server, 'victim');
  await waitForMachine(client);
  const { modelName } = await findStarterModel(client);
  const file = path.join(folder, 'data.bin');
  await writeFile(file, randomBytes(DOWNLOAD_BYTES));
  const assetId = await client.call(createAsset, {
    body: { dataset_type: 'RAW', title: 'Bench', user_id: client.userId },
  });
  await client.upload(assetId, file);
  const health = () => fetch(`${server.url}/healthz`).then((response) => response.text());
  const download = async () => {
    const response = await client.send(downloadFile, { params: { id: assetId, '*': 'data.bin' } });
    await response.arrayBuffer();
  };
  const chat = () => ask(server.url, { 'x-api-key': client.apiKey }, modelName, ANSWER_TOKENS);
  // The first request wakes the model server.
  await chat();
  return async () => ({
    health: await medianSeconds(LOOKS, health),
    download: await medianSeconds(DOWNLOADS, download),
    chat: await medianSeconds(ANSWERS, chat),
  });
}

async function makeTarget(server: OwnServer, folder: string): Promise<Target> {
  const client = await signUp(server, 'attacker');
  const signedIn = await fetch(`${server.url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.url },
    body: JSON.stringify({ email: 'attacker@example.com', password: PASSWORD }),
  });
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const { asset, modelName } = await findStarterModel(client);
  const file = path.join(folder, 'expanding.parquet');
  const { command, env } = await runtimeCommand(readConfig(process.env));
  await promisify(execFile)(command, [path.join(runtimeDir, 'bench', 'expanding_parquet.py'), file], { env });
  const dataset = await client.call(createAsset, {
    body: { dataset_type: 'RAW', title: 'Bench', user_id: client.userId },
  });
  await client.upload(dataset, file);
  const fineTune = {
    dataset_id: dataset,
    file_name: path.basename(file),
    model_id: asset.dataset_id,
    input_column: 'question',
    output_column: 'answer',
  };
  return { url: server.url, cookie, apiKey: client.apiKey, model: modelName, fineTune };
}

function signUp({ url }: OwnServer, name: string): Promise<Client> {
  return Client.signUp(url, { name, email: `${name}@example.com`, password: PASSWORD });
}

/** What fails, or takes longer than anybody would wait, has taken for ever. */
async function medianSeconds(count: number, work: () => Promise<unknown>): Promise<number> {
  const seconds: number[] = [];
  for (let round = 0; round < count; round += 1) {
    const start = performance.now();
    const done = await Promise.race([
      work().then(
        () => true,
        () => false,
      ),
      pause(GIVEN_UP_MS, false, { ref: false }),
    ]);
    seconds.push(done ? (performance.now() - start) / 1000 : Number.POSITIVE_INFINITY);
  }
  return median(seconds);
}
