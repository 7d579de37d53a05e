import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createAsset } from '@bakehouse/contract/assets';
import { transferTokens } from '@bakehouse/contract/credits';
import { parseBgl } from '@bakehouse/contract/money';
import { listRuns, type Run } from '@bakehouse/contract/runs';
import { expect, test } from 'vitest';
import { buyForTest } from '../modules/billing/testing/test-user.ts';
import { sealTransfers } from '../modules/billing/verification/chain.ts';
import { verifyLedger } from '../modules/billing/verification/verify-ledger.ts';
import { emptySafetensors } from '../modules/fine-tuning/testing/test-run.ts';
import { connect } from '../platform/db/database.ts';
import { discardEmbeddedPostgres, startEmbeddedPostgres } from '../platform/postgres/embedded-postgres.ts';
import { onFileEnd } from '../testing/on-file-end.ts';
import { freePort } from '../testing/ports/free-port.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { type TestUser, testClient, WireError } from '../testing/test-client.ts';

const SENDS_PER_DEATH = 40;
const AGAIN_MS = 50;
const USERS = 4;

type Victim = 'web' | 'worker' | 'postgres';
/**
 * What to kill in each round. The first combinations leave only one process, or none, to restart PostgreSQL.
 * The last ones kill a single process.
 */
const deaths: Victim[][] = [
  ['web'],
  ['worker', 'postgres'],
  ['web', 'worker', 'postgres'],
  ['worker'],
  ['postgres'],
  ['web', 'worker'],
];
const DEATHS = 60;
/**
 * Must be less than the number of attempts after which a run without progress fails, so that no run fails on
 * a slow machine.
 */
const DEATHS_PER_RUN_MAX = 3;
const LIMIT_MS = 3_600_000;

test('kill -9 of server, worker and PostgreSQL under load loses nothing that was acknowledged', {
  timeout: LIMIT_MS,
}, async () => {
  const platform = await startPlatform();
  const users = await Promise.all(Array.from({ length: USERS }, () => platform.client.signUp()));
  await fundSenders(await platform.databaseUrl(), users);
  const load = new Load(platform.url, users);
  await load.prepare();
  load.begin();

  for (let death = 0; death < DEATHS; death += 1) {
    const victims = deaths[death % deaths.length] ?? [];
    if (death % DEATHS_PER_RUN_MAX === 0) await load.oneMoreRunOfEach();
    await load.moreSends(SENDS_PER_DEATH);
    await Promise.all(victims.map(platform.kill));
    await Promise.all(victims.map(platform.revive));
  }
  await load.moreSends(SENDS_PER_DEATH);
  await load.end();

  const db = connect(await platform.databaseUrl());
  try {
    const transfers = await db.selectFrom('ledger_transfers').select(['id', 'amount', 'refs']).execute();
    const kept = new Set(transfers.map(({ id }) => id));
    expect(load.acknowledgedSends.filter((id) => !kept.has(id))).toEqual([]);
    expect(new Set(load.acknowledgedSends).size).toBe(load.acknowledgedSends.length);

    // Each run was charged at most once, and by the amount that it reports.
    expect(load.endedRuns.length).toBeGreaterThanOrEqual(USERS);
    for (const run of load.endedRuns) {
      expect(run.state, run.reason).toBe('completed');
      const charges = transfers.filter(({ refs }) => (refs as { run_id?: string }).run_id === run.run_id);
      expect(charges.length).toBeLessThanOrEqual(1);
      expect(charges[0]?.amount ?? 0n).toBe(parseBgl(run.charged ?? ''));
    }
    expect(load.endedRuns.some(({ charged }) => charged !== '0')).toBe(true);
    // After a later attempt has reported, no report of an earlier attempt was accepted.
    const accepted = await platform.accepted();
    for (const run of load.endedRuns) {
      const attempts = accepted
        .filter(({ workloadId }) => workloadId === run.run_id)
        .toSorted((a, b) => a.seq - b.seq)
        .map(({ attempt }) => attempt);
      expect(attempts, run.run_id).toEqual(attempts.toSorted((a, b) => a - b));
    }

    await sealTransfers(db);
    const report = await verifyLedger(db);
    expect(report.checks.filter((check) => !check.ok)).toEqual([]);
    expect(report.openHolds).toBe(0);
  } finally {
    await db.destroy();
  }
});

/** Web and worker as separate processes on one data folder. They start and supervise its PostgreSQL. */
async function startPlatform() {
  const dataDir = await temporaryFolder();
  const dir = path.join(dataDir, 'postgres');
  onFileEnd(() => discardEmbeddedPostgres(dir));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const roles = { web: ['web'], worker: ['worker', 'reconciler'] };
  const processes = new Map<Victim, ChildProcess>();

  const start = async (name: 'web' | 'worker') => {
    const program = fileURLToPath(import.meta.resolve('../testing/kill-nine-server.ts'));
    const child = spawn(process.execPath, [program, ...roles[name]], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        HOME: dataDir,
        BAKEHOUSE_DATA_DIR: dataDir,
        BAKEHOUSE_CACHE_DIR: path.join(dataDir, 'cache'),
        BAKEHOUSE_SECRET: 'only-for-tests-only-for-tests-only',
        BAKEHOUSE_PORT: String(port),
        BAKEHOUSE_PREPARE: 'false',
        BAKEHOUSE_CPU_SLOTS: '4',
        BAKEHOUSE_RATE_LIMITS: 'false',
        BAKEHOUSE_LOG_LEVEL: 'silent',
      },
    });
    onFileEnd(() => end(child));
    processes.set(name, child);
    // The process may be killed before it prints anything.
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  };
  await start('web');
  await start('worker');

  return {
    url,
    client: testClient(url),
    databaseUrl: async () => (await startEmbeddedPostgres({ dir })).url,
    /** Batches of reports that were accepted. */
    accepted: async () =>
      (await readFile(path.join(dataDir, 'accepted'), 'utf8'))
        .split('\n')
        .filter(Boolean)
        .map((line) => {
          const [workloadId, attempt, seq] = line.split(' ');
          return { workloadId, attempt: Number(attempt), seq: Number(seq) };
        }),
    kill: async (victim: Victim) => {
      if (victim !== 'postgres') return end(processes.get(victim));
      const [postmaster] = (await readFile(path.join(dir, 'postmaster.pid'), 'utf8')).split('\n');
      process.kill(Number(postmaster), 'SIGKILL');
    },
    /** Any living server restarts PostgreSQL. */
    revive: async (victim: Victim) => {
      if (victim !== 'postgres') await start(victim);
    },
  };
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Starting credits cannot be sent to others, so grant more. */
async function fundSenders(url: string, users: TestUser[]): Promise<void> {
  const db = connect(url);
  try {
    for (const { userId } of users) await buyForTest(db, userId, 125_000_000n);
  } finally {
    await db.destroy();
  }
}

/**
 * Users who send each other credits and start trainings. They repeat each call with the same key until they
 * get a response.
 */
class Load {
  readonly acknowledgedSends: string[] = [];
  readonly endedRuns: Run[] = [];
  private readonly runCounts = new Map<TestUser, number>();
  private readonly client;
  private readonly url: string;
  private readonly users: TestUser[];
  private readonly sources = new Map<TestUser, { dataset: string; base: string }>();
  private working: Promise<unknown> = Promise.resolve();
  private ending = false;

  constructor(url: string, users: TestUser[]) {
    this.url = url;
    this.client = testClient(url);
    this.users = users;
  }

  /** Gives every user a dataset and a base model. */
  async prepare(): Promise<void> {
    for (const user of this.users) {
      const dataset = await this.create(user, 'RAW', 'rows.csv', Buffer.from('question,answer\na,b\n'));
      const base = await this.create(user, 'MODEL', 'model.safetensors', emptySafetensors());
      await this.upload(user, base, 'config.json', Buffer.from('{}'));
      this.sources.set(user, { dataset, base });
    }
  }

  begin(): void {
    this.working = Promise.all(this.users.flatMap((user) => [this.sendOn(user), this.trainOn(user)]));
    // A rejection is handled in `moreSends` and `end`.
    this.working.catch(() => undefined);
  }

  async moreSends(count: number): Promise<void> {
    const goal = this.acknowledgedSends.length + count;
    while (this.acknowledgedSends.length < goal) await Promise.race([sleep(AGAIN_MS), this.working]);
  }

  /** Waits until the current run of each user has ended. */
  async oneMoreRunOfEach(): Promise<void> {
    const before = new Map(this.runCounts);
    const hasEnded = (user: TestUser) => (this.runCounts.get(user) ?? 0) > (before.get(user) ?? 0);
    while (!this.users.every(hasEnded)) await Promise.race([sleep(AGAIN_MS), this.working]);
  }

  /** Waits until everything that was started has completed. */
  async end(): Promise<void> {
    this.ending = true;
    await this.working;
  }

  private async sendOn(user: TestUser): Promise<void> {
    for (let count = 0; !this.ending; count += 1) {
      const other = this.users[(this.users.indexOf(user) + 1 + (count % (USERS - 1))) % USERS] as TestUser;
      const body = { user_id: user.userId, recipient_id: other.userId, amount: '0.000001' };
      const idempotencyKey = randomUUID();
      const { transaction_id } = await insist(() =>
        this.client.request(transferTokens, { body }, { as: user, idempotencyKey }),
      );
      this.acknowledgedSends.push(transaction_id);
    }
  }

  private async trainOn(user: TestUser): Promise<void> {
    const { dataset, base } = this.sources.get(user) ?? { dataset: '', base: '' };
    while (!this.ending) {
      const title = 'under fire';
      const body = {
        dataset_type: 'MODEL' as const,
        title,
        user_id: user.userId,
        fine_tune_payload: {
          asset_id: dataset,
          base_model: base,
          model_name: title,
          file_name: 'rows.csv',
          user_id: user.userId,
          ceiling: '1',
          input_column: 'question',
          output_column: 'answer',
        },
      };
      const idempotencyKey = randomUUID();
      const modelId = await insist(() =>
        this.client.request(createAsset, { body }, { as: user, idempotencyKey }),
      );
      this.endedRuns.push(await this.untilEnded(user, modelId));
      this.runCounts.set(user, (this.runCounts.get(user) ?? 0) + 1);
    }
  }

  private async untilEnded(user: TestUser, modelId: string): Promise<Run> {
    for (;;) {
      const { runs } = await insist(() =>
        this.client.request(listRuns, { query: { model_id: modelId } }, { as: user }),
      );
      expect(runs).toHaveLength(1);
      if (runs[0]?.ended_at) return runs[0];
      await sleep(AGAIN_MS);
    }
  }

  private async create(user: TestUser, type: 'RAW' | 'MODEL', name: string, bytes: Buffer) {
    const body = { dataset_type: type, title: name, user_id: user.userId };
    const id = await this.client.request(createAsset, { body }, { as: user });
    await this.upload(user, id, name, bytes);
    return id;
  }

  private async upload(user: TestUser, id: string, name: string, bytes: Buffer): Promise<void> {
    const body = new FormData();
    body.set('data_file', new Blob([new Uint8Array(bytes)]), name);
    const answer = await fetch(`${this.url}/api/v1/asset/${id}/upload`, {
      method: 'POST',
      headers: { 'x-api-key': user.apiKey },
      body,
    });
    expect(answer.status, await answer.text()).toBe(200);
  }
}

/** Repeats a call until there is a response other than 'unavailable'. */
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
