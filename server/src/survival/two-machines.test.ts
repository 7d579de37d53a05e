import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createAsset } from '@bakehouse/contract/assets';
import { expect, test } from 'vitest';
import { agreedPrice } from '../modules/credits/prices/agreed-price.ts';
import { sealTransfers } from '../modules/credits/verification/seal-transfers.ts';
import { verifyLedger } from '../modules/credits/verification/verify-ledger.ts';
import { roundCostMicro } from '../modules/training/charges/round-cost.ts';
import { emptySafetensors } from '../modules/training/testing/test-run.ts';
import { onFileEnd } from '../testing/on-file-end.ts';
import { freePort } from '../testing/ports/free-port.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { type TestUser, testClient, WireError } from '../testing/test-client.ts';
import { testDatabase } from '../testing/test-database.ts';

/** Runs that have not ended, while machines are killed. */
const BUSY = 8;
const AGAIN_MS = 50;
const SECRET = 'only-for-tests-only-for-tests-only';

const database = await testDatabase();
const { db } = database;

/** A server in a process of its own, on a data folder of its own and the common database. */
async function machine(services: string[], settings: Record<string, string> = {}) {
  const dataDir = await temporaryFolder();
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async () => {
    const program = fileURLToPath(import.meta.resolve('../testing/kill-nine-server.ts'));
    child = spawn(process.execPath, [program, ...services], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        HOME: dataDir,
        DATABASE_URL: database.url,
        BAKEHOUSE_DATA_DIR: dataDir,
        BAKEHOUSE_CACHE_DIR: path.join(dataDir, 'cache'),
        BAKEHOUSE_SECRET: SECRET,
        BAKEHOUSE_PORT: String(port),
        BAKEHOUSE_PREPARE: 'false',
        BAKEHOUSE_RATE_LIMITS: 'false',
        BAKEHOUSE_MACHINE_GONE_MINUTES: '0.1',
        BAKEHOUSE_CPU_SLOTS: '2',
        BAKEHOUSE_LOG_LEVEL: 'silent',
        ...settings,
      },
    });
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), once(child, 'exit')]);
    return said;
  };
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  onFileEnd(kill);
  return {
    url: `http://127.0.0.1:${port}`,
    start,
    kill,
    id: async () => (await readFile(path.join(dataDir, 'machine'), 'utf8')).trim(),
    /** The batches of reports that were taken in from its workloads: workload, attempt, number of the last report. */
    accepted: async () =>
      (await readFile(path.join(dataDir, 'accepted'), 'utf8').catch(() => ''))
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(' ') as [string, string, string]),
  };
}

const runs = () =>
  db
    .selectFrom('workloads')
    .select(['id', 'state', 'attempt', 'machine_id', 'ended_at', 'restarts'])
    .execute();
const ended = async () => (await runs()).filter(({ ended_at }) => ended_at !== null).length;

const unended = async () => (await runs()).filter(({ ended_at }) => ended_at === null).length;

/** Waits until so many more runs have ended than now. */
async function moreEnded(count: number): Promise<void> {
  const goal = (await ended()) + count;
  while ((await ended()) < goal) await sleep(100);
}

/** Waits until a machine is at work, so that a kill hits something. */
async function atWork(id: string): Promise<void> {
  for (;;) {
    const working = (await runs()).some(({ state, machine_id }) => state === 'ready' && machine_id === id);
    if (working) return;
    await sleep(20);
  }
}

test('two machines on one database share the queue, while each is killed in turn', {
  timeout: 240_000,
}, async () => {
  const [holder, other] = [await machine(['web', 'worker', 'reconciler']), await machine(['reconciler'])];
  await holder.start();
  await other.start();
  const [holderId, otherId] = [await holder.id(), await other.id()];
  const client = testClient(holder.url);
  const users = [await client.signUp(), await client.signUp()];
  let isEnding = false;
  const feeding = Promise.all(users.map((user) => feed(client, holder.url, user, () => isEnding)));
  // Seen below.
  feeding.catch(() => undefined);

  await moreEnded(3);
  // Killed, it comes back with its data folder and goes on.
  for (const victim of [other, holder]) {
    await atWork(victim === other ? otherId : holderId);
    await victim.kill();
    await victim.start();
    await moreEnded(3);
  }
  // This time it stays away: what it had begins anew on the other one.
  let lost: Awaited<ReturnType<typeof runs>> = [];
  for (;;) {
    await atWork(otherId);
    await other.kill();
    lost = (await runs()).filter(({ machine_id, ended_at }) => machine_id === otherId && !ended_at);
    if (lost.length > 0) break;
    // It was just done with everything.
    await other.start();
  }
  isEnding = true;
  await feeding;
  while ((await unended()) > 0) await sleep(AGAIN_MS);

  const all = await runs();
  expect(new Set(all.map(({ state }) => state))).toEqual(new Set(['completed']));
  for (const { id, attempt } of lost) {
    const run = all.find((one) => one.id === id);
    // One whose result had come before the kill is not begun again.
    const wasDone = run?.machine_id === otherId && run.attempt === attempt;
    expect(wasDone || run?.machine_id === holderId, id).toBe(true);
  }
  // Both had their part.
  const accepted = [...(await holder.accepted()), ...(await other.accepted())];
  expect(new Set((await other.accepted()).map(([id]) => id)).size).toBeGreaterThan(0);
  expect(new Set((await holder.accepted()).map(([id]) => id)).size).toBeGreaterThan(0);
  // Once a later attempt has spoken, nothing of an earlier one was taken in.
  for (const { id } of all) {
    const attempts = accepted
      .filter(([workload]) => workload === id)
      .toSorted((a, b) => Number(a[2]) - Number(b[2]))
      .map(([, attempt]) => Number(attempt));
    expect(attempts, id).toEqual(attempts.toSorted((a, b) => a - b));
  }

  await expectChargedOnce();
  await sealTransfers(db);
  const report = await verifyLedger(db);
  expect(report.checks.filter((check) => !check.ok)).toEqual([]);
  expect(report.openHolds).toBe(0);
});

/** Each run was charged once, for the time that it counts in the end, wherever it began. */
async function expectChargedOnce(): Promise<void> {
  const transfers = await db.selectFrom('ledger_transfers').select(['refs', 'amount']).execute();
  const finished = await db
    .selectFrom('runs')
    .innerJoin('workloads', 'workloads.id', 'runs.id')
    .select([
      'runs.id',
      'active_seconds',
      'charged_micro',
      'held_micro',
      'price_id',
      'unit_price_micro',
      'runs.devices',
    ])
    .execute();
  for (const run of finished) {
    const cost = roundCostMicro(
      {
        price: agreedPrice(run.price_id, run.unit_price_micro),
        devices: run.devices,
        settledSeconds: 0,
        unpaidSeconds: 0,
      },
      run.active_seconds,
    );
    const due = cost < run.held_micro ? cost : run.held_micro;
    const charges = transfers.filter(({ refs }) => (refs as { run_id?: string }).run_id === run.id);
    expect(
      charges.map(({ amount }) => amount),
      run.id,
    ).toEqual(due > 0n ? [due] : []);
    expect(run.charged_micro, run.id).toBe(due);
  }
}

test('a machine with another secret, or that is to answer requests without the files, is refused in a sentence', async () => {
  const stranger = await machine(['reconciler'], { BAKEHOUSE_SECRET: 'another-one-another-one-another-one' });
  expect(await stranger.start()).toContain(
    "This machine's secret is not that of the machine that holds the files",
  );
  const web = await machine(['web']);
  expect(await web.start()).toContain('Another machine of this installation holds the files');
});

/** Keeps a user's runs coming until the end, each asked for again with the same key until there is an answer. */
async function feed(
  client: ReturnType<typeof testClient>,
  url: string,
  user: TestUser,
  isEnding: () => boolean,
): Promise<void> {
  const create = async (type: 'RAW' | 'MODEL', files: Record<string, Buffer>) => {
    const body = { dataset_type: type, title: type, user_id: user.userId };
    const id = await client.request(createAsset, { body }, { as: user });
    for (const [name, bytes] of Object.entries(files)) {
      const form = new FormData();
      form.set('data_file', new Blob([new Uint8Array(bytes)]), name);
      const headers = { 'x-api-key': user.apiKey };
      const answer = await fetch(`${url}/api/v1/asset/${id}/upload`, { method: 'POST', headers, body: form });
      expect(answer.status, await answer.text()).toBe(200);
    }
    return id;
  };
  const dataset = await create('RAW', { 'rows.csv': Buffer.from('question,answer\na,b\n') });
  const base = await create('MODEL', {
    'model.safetensors': emptySafetensors(),
    'config.json': Buffer.from('{}'),
  });
  for (let count = 0; !isEnding(); count += 1) {
    const title = `run ${count}`;
    const fine_tune_payload = {
      ...{ asset_id: dataset, base_model: base, model_name: title, file_name: 'rows.csv' },
      ...{ user_id: user.userId, ceiling: '1', input_column: 'question', output_column: 'answer' },
    };
    const body = { dataset_type: 'MODEL' as const, title, user_id: user.userId, fine_tune_payload };
    const idempotencyKey = randomUUID();
    await insist(() => client.request(createAsset, { body }, { as: user, idempotencyKey }));
    while (!isEnding() && (await unended()) >= BUSY) await sleep(AGAIN_MS);
  }
}

/** Asks again while nobody answers, or only that the server cannot just now. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof WireError && error.status < 500) throw error;
      await sleep(AGAIN_MS);
    }
  }
}
