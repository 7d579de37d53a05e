import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createAsset, listAssets } from '@bakehouse/contract/assets';
import { getBalance } from '@bakehouse/contract/credits';
import { listDeployments } from '@bakehouse/contract/deployments/all';
import { listRuns } from '@bakehouse/contract/runs';
import { readConfig } from '../../../server/src/config.ts';
import { runtimeDir } from '../../../server/src/engine/host/environment/environment.ts';
import { runtimeCommand } from '../../../server/src/engine/host/runtime-command.ts';
import { writeNoise } from '../../../server/src/modules/generations/testing/write-noise.ts';
import { atLowPriority } from '../../../server/src/platform/processes/processes.ts';
import { Client } from '../../client/client.ts';
import { findStarterModel, waitForMachine } from '../../client/machine-ready.ts';
import { type SeparateServer, startSeparateServer } from '../../client/separate-server.ts';
import { ask } from '../ask.ts';
import type { Measured } from '../measured.ts';
import { attacks, CSV_ROWS, type Target } from './attacks.ts';
import { compareLooks, lookAtFixedTimes, type Probe, probeSequentially } from './looks.ts';
import { watchProcessor } from './watch-processor.ts';

const ATTACKER = fileURLToPath(new URL('./attacker.ts', import.meta.url));
const PASSWORD = 'sourdough-starter';
const LOOKED_MS = 6_000;
const PAGE_EVERY_MS = 250;
const ANSWERS = 6;
/** Time for an attack to have its full effect, and for the effect of the previous one to end. */
const SETTLING_MS = 3000;
/** In the control, the server alternately freezes and runs for this long. */
const FROZEN_MS = 2000;
const AT_ONCE = [1, 8];

/** What another user does: opens a page, and waits for the first token from the starter model. */
type Looks = { page: Probe[]; 'first token': Probe[] };
type Victim = { look: () => Promise<Looks> };
/** Starts a disturbance, and returns a function that ends it. */
type Disturb = () => () => Promise<void>;
/** Number of calls that an attacker started, and how many of those were rejected, cut off or aborted. */
type Calls = { begun: number; refused: number };
/** Replaces fields of a line. */
type Judge = { judge?: (what: keyof Looks) => Partial<Measured> };

/**
 * Measures how much the calls of one user, or of a caller without an account, slow down another user of the
 * same server. Each kind of call is made one at a time and eight at a time. Reports each line immediately.
 */
export async function measureNeighbours(tell: (line: Measured) => void): Promise<Measured[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-bench-'));
  // Use the rate limits of an installation. Raise the budget for visitors, because it would end the attack
  // early.
  const settings = { BAKEHOUSE_RATE_LIMITS: '', BAKEHOUSE_VISITOR_BUDGET_BGL: '100000' };
  const server = await startSeparateServer(settings);
  try {
    const victim = await makeVictim(server);
    const target = await makeTarget(server, folder);
    const measured: Measured[] = [];
    let before = await probeUndisturbed(victim);
    const measureDuring = async (name: string, disturb: Disturb, { judge = () => ({}) }: Judge = {}) => {
      const { during, cause } = await runDuring(disturb, async () => {
        const busy = await watchProcessor(server.pid);
        return { during: await victim.look(), cause: await busy() };
      });
      const after = await probeUndisturbed(victim);
      for (const what of ['first token', 'page'] as const) {
        // Compare with probes from both before and after, because the machine's speed changes.
        const compared = compareLooks(
          `${what} beside ${name}`,
          [...before[what], ...after[what]],
          during[what],
        );
        const line = { ...compared, cause, ...judge(what) };
        measured.push(line);
        tell(line);
      }
      before = after;
    };
    await measureDuring('a server that stalls (control)', () => freezeInTurns(server.pid), {
      // First tokens are measured one after the other, so few of them occur during a stall. They have no
      // goal.
      judge: (what) => (what === 'page' ? { mustMiss: true } : { goal: undefined }),
    });
    // For comparison: how much a program that only computes slows the server down.
    await measureDuring('a program that only computes (ceiling)', compute, {
      judge: () => ({ goal: undefined }),
    });
    for (const attack of Object.keys(attacks)) {
      for (const atOnce of AT_ONCE) {
        const calls = { begun: 0, refused: 0 };
        await measureDuring(`${attack} x ${atOnce}`, () => strike({ attack, atOnce, ...target }, calls), {
          judge: (what) => ({
            name: `${what} beside ${attack} x ${atOnce} (${calls.begun} calls, ${calls.refused} refused)`,
            // An attacker that got no CPU time has not disturbed anything, so the line is invalid.
            ...(calls.begun === 0 && { ours: Number.NaN, cause: 'the attacker did nothing' }),
          }),
        });
      }
    }
    return measured;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

async function probeUndisturbed(victim: Victim): Promise<Looks> {
  await pause(SETTLING_MS);
  return victim.look();
}

async function runDuring<T>(disturb: Disturb, look: () => Promise<T>): Promise<T> {
  const end = disturb();
  try {
    await pause(SETTLING_MS);
    return await look();
  } finally {
    await end();
  }
}

function strike(attack: Target & { attack: string; atOnce: number }, calls: Calls): () => Promise<void> {
  // In reality, requests come from another machine. So the attackers only get CPU time that the server does
  // not need.
  return runAtLowPriority([ATTACKER, JSON.stringify(attack)], calls);
}

function compute(): () => Promise<void> {
  return runAtLowPriority(['--eval', 'for (;;);']);
}

/** Runs Node at low priority, and returns a function that ends it. */
function runAtLowPriority(words: string[], calls: Calls = { begun: 0, refused: 0 }): () => Promise<void> {
  const [priority = '', ...rest] = atLowPriority;
  // In its own session, because the priority can only be lowered for a whole session.
  const node = spawn(priority, [...rest, process.execPath, ...words], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  node.stdout.setEncoding('utf8').on('data', (marks: string) => {
    for (const mark of marks) calls[mark === '.' ? 'begun' : 'refused'] += 1;
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

async function makeVictim(server: SeparateServer): Promise<Victim> {
  const client = await signUp(server, 'victim');
  await waitForMachine(client);
  const { modelName } = await findStarterModel(client);
  const { userId } = client;
  const openPage = () =>
    Promise.all([
      client.call(getBalance, { params: { userId } }),
      client.call(listAssets, { query: { owner: userId } }),
      client.call(listRuns, { query: {} }),
      client.call(listDeployments, { params: { userId }, query: {} }),
    ]);
  const answer = () => ask(server.url, { 'x-api-key': client.apiKey }, modelName, 1);
  // Wakes the model server.
  await answer();
  return {
    look: async () => {
      const count = LOOKED_MS / PAGE_EVERY_MS;
      const [page, firstToken] = await Promise.all([
        lookAtFixedTimes(openPage, { count, everyMs: PAGE_EVERY_MS }),
        probeSequentially(answer, ANSWERS),
      ]);
      return { page, 'first token': firstToken };
    },
  };
}

async function makeTarget(server: SeparateServer, folder: string): Promise<Target> {
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
  const dataset = await client.call(createAsset, {
    body: { dataset_type: 'RAW', title: 'Bench', user_id: client.userId },
  });
  const files = await makeFiles(folder);
  for (const file of [files.expanding, files.csv]) await client.upload(dataset, file);
  return {
    ...{ url: server.url, userId: client.userId, cookie, apiKey: client.apiKey },
    ...{ model: modelName, modelId: asset.dataset_id, dataset, files },
  };
}

async function makeFiles(folder: string): Promise<Target['files']> {
  const files = {
    expanding: path.join(folder, 'expanding.parquet'),
    csv: path.join(folder, 'questions.csv'),
    picture: path.join(folder, 'large.jpg'),
    scans: path.join(folder, 'scans.jpg'),
  };
  const { command, env } = await runtimeCommand(readConfig(process.env));
  await promisify(execFile)(
    command,
    [path.join(runtimeDir, 'bench', 'expanding_parquet.py'), files.expanding],
    {
      env,
    },
  );
  const rows = Array.from({ length: CSV_ROWS }, (_, n) => `What is ${n}?,It is the number ${n} of them all.`);
  await writeFile(files.csv, `question,answer\n${rows.join('\n')}\n`);
  await writeNoise(files.picture, { width: 8_000, height: 5_000 });
  await writeNoise(files.scans, { width: 2_000, height: 2_000, progressive: true });
  return files;
}

function signUp({ url }: SeparateServer, name: string): Promise<Client> {
  return Client.signUp(url, { name, email: `${name}@example.com`, password: PASSWORD });
}
