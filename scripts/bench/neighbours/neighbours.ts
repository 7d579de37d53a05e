import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createAsset, downloadFile } from '@bakehouse/contract/assets';
import { readConfig } from '../../../server/src/config.ts';
import { runtimeDir } from '../../../server/src/engine/host/environment/environment.ts';
import { runtimeCommand } from '../../../server/src/engine/host/runtime-command.ts';
import { atLowPriority } from '../../../server/src/platform/processes/low-priority.ts';
import { Client } from '../../client/client.ts';
import { findStarterModel, waitForMachine } from '../../client/machine-ready.ts';
import { type OwnServer, startOwnServer } from '../../client/own-server.ts';
import { ask } from '../ask.ts';
import type { Measured } from '../measured.ts';
import { type Attack, attacks, STRIKE_MS, type Target } from './attacker.ts';
import { compareLooks, type Look, lookAtFixedTimes, lookInTurns } from './looks.ts';

const ATTACKER = fileURLToPath(new URL('./attacker.ts', import.meta.url));
const PASSWORD = 'sourdough-starter';
/** Looks go on for longer than a strike may take, so that they see one whole. */
const LOOKED_MS = STRIKE_MS + 1000;
const LOOK_EVERY_MS = 50;
const DOWNLOAD_EVERY_MS = 200;
const ANSWERS = 9;
const ANSWER_TOKENS = 32;
const DOWNLOAD_BYTES = 1_000_000;
/** An attack has begun to bite, and the one before it has been got over. */
const SETTLING_MS = 4000;
/** The control's server stands still for so long, and then goes on for as long. */
const FROZEN_MS = 300;

/** What another user does: looks at the server's health and downloads at once, and answers of the starter model. */
type Victim = {
  look: () => Promise<{ health: Look[]; download: Look[] }>;
  chat: () => Promise<Look[]>;
};
/** Begins what disturbs the server, and gives what ends it. */
type Disturb = () => () => Promise<void>;

/** What each attack that one user, or a stranger, could make does to another user of the same server. */
export async function measureNeighbours(): Promise<Measured[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-bench-'));
  // With the limits that an installation has.
  const server = await startOwnServer({ BAKEHOUSE_RATE_LIMITS: '' });
  try {
    const victim = await makeVictim(server, folder);
    const target = await makeTarget(server, folder);
    const measured = await measureControl(server, victim);
    let before = await lookUndisturbed(victim);
    const measureBeside = async (name: string, disturb: Disturb): Promise<Measured[]> => {
      const during = await beside(disturb, () => lookAtAll(victim));
      const after = await lookUndisturbed(victim);
      // A machine drifts: it is measured on both sides of what disturbs it.
      const rows = (['health', 'download', 'chat'] as const).map((what) =>
        compareLooks(`${what} beside ${name}`, [...before[what], ...after[what]], during[what]),
      );
      before = after;
      return rows;
    };
    // The ceiling: a machine's cores share more than the scheduler deals out.
    for (const row of await measureBeside('a program that only computes (ceiling)', compute))
      measured.push({ ...row, goal: undefined });
    for (const attack of Object.keys(attacks) as Attack[])
      measured.push(...(await measureBeside(attack, () => strike(attack, target))));
    return measured;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

async function lookAtAll(victim: Victim): Promise<Record<'health' | 'download' | 'chat', Look[]>> {
  return { ...(await victim.look()), chat: await victim.chat() };
}

async function lookUndisturbed(victim: Victim): ReturnType<typeof lookAtAll> {
  await pause(SETTLING_MS);
  return lookAtAll(victim);
}

/** The negative control: whoever calls this server waits for it, and looks that do not tell so see nothing. */
async function measureControl({ pid }: OwnServer, victim: Victim): Promise<Measured[]> {
  await pause(SETTLING_MS);
  const before = await victim.look();
  const during = await beside(() => freezeInTurns(pid), victim.look);
  return (['health', 'download'] as const).map((what) => ({
    ...compareLooks(`${what} of a server that stalls (control)`, before[what], during[what]),
    mustMiss: true,
  }));
}

async function beside<T>(disturb: Disturb, look: () => Promise<T>): Promise<T> {
  const end = disturb();
  try {
    await pause(SETTLING_MS);
    return await look();
  } finally {
    await end();
  }
}

function strike(attack: Attack, target: Target): () => Promise<void> {
  // Somebody else's machine makes the requests: here they get only what the server leaves over, and
  // never a core that the victim could use.
  return runAtLowPriority([ATTACKER, JSON.stringify({ attack, ...target })]);
}

function compute(): () => Promise<void> {
  return runAtLowPriority(['--eval', 'for (;;);']);
}

/** Runs Node at low priority, and gives what ends it. */
function runAtLowPriority(words: string[]): () => Promise<void> {
  const [priority = '', ...rest] = atLowPriority;
  // In a session of its own, which alone is lowered.
  const node = spawn(priority, [...rest, process.execPath, ...words], {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve) => node.once('close', resolve));
  return async () => {
    node.kill('SIGKILL');
    await ended;
  };
}

function freezeInTurns(pid: number): () => Promise<void> {
  let goesOn = true;
  const turns = async () => {
    while (goesOn) {
      process.kill(pid, 'SIGSTOP');
      await pause(FROZEN_MS);
      process.kill(pid, 'SIGCONT');
      await pause(FROZEN_MS);
    }
  };
  const ended = turns();
  return () => {
    goesOn = false;
    return ended;
  };
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
  const health = async () => {
    const response = await fetch(`${server.url}/healthz`);
    await response.text();
    if (!response.ok) throw new Error(`The look was refused with ${response.status}.`);
  };
  const download = async () => {
    const response = await client.send(downloadFile, { params: { id: assetId, '*': 'data.bin' } });
    await response.arrayBuffer();
  };
  const chat = () => ask(server.url, { 'x-api-key': client.apiKey }, modelName, ANSWER_TOKENS);
  // The first request wakes the model server.
  await chat();
  return {
    look: async () => {
      const [healthLooks, downloads] = await Promise.all([
        lookAtFixedTimes(health, { count: LOOKED_MS / LOOK_EVERY_MS, everyMs: LOOK_EVERY_MS }),
        // Between two looks, so that neither waits for the other.
        lookAtFixedTimes(download, {
          count: LOOKED_MS / DOWNLOAD_EVERY_MS,
          everyMs: DOWNLOAD_EVERY_MS,
          firstMs: LOOK_EVERY_MS / 2,
        }),
      ]);
      return { health: healthLooks, download: downloads };
    },
    chat: () => lookInTurns(chat, ANSWERS),
  };
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
