import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../../../platform/clock.ts';
import type { Services } from '../../../platform/context.ts';
import { createPool, type Database, openDatabase } from '../../../platform/db/database.ts';
import { migrate } from '../../../platform/db/setup/migrate.ts';
import {
  discardEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../platform/postgres/embedded-postgres.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { closeLostWindowsJob } from '../jobs/usage-jobs.ts';
import { getUserTotals } from '../queries.ts';
import { insertTestKey, insertTestUser } from '../testing/test-user.ts';
import { sealTransfers } from '../verification/chain.ts';
import { verifyLedger } from '../verification/verify-ledger.ts';

const PROCESSES = 3;
const ROUNDS = 20;
const LIMIT_MS = 3_600_000;
const USES_PER_STAGE = 300;
/**
 * Only uses younger than this at the crash may be lost: 0.1 s of batching, plus a write on a busy machine. If
 * a write takes longer, all uses since the last acknowledged write may be lost.
 */
const FORGOTTEN_MS_MAX = 1_000;
/** Minimum duration of each stage of a round, so that most of its uses are written before the crash. */
const STAGE_MS = 2_500;
/** Two users have enough credit, and one runs out. Two of the keys have budgets. */
const users = [
  { grantMicro: 10_000_000n, budgetMicro: null },
  { grantMicro: 10_000_000n, budgetMicro: 3_000n },
  { grantMicro: 5_000n, budgetMicro: 10_000n },
];

test('kill -9 of three servers and of PostgreSQL loses no written use, charges none twice, and respects credit and budgets', {
  timeout: LIMIT_MS,
}, async () => {
  const home = await mkdtemp(path.join(tmpdir(), 'bakehouse-usage-'));
  await chmod(home, 0o755);
  const dir = path.join(home, 'postgres');
  onFileEnd(async () => {
    await discardEmbeddedPostgres(dir);
    await rm(home, { recursive: true, force: true });
  });
  let postgres = await startEmbeddedPostgres({ dir });
  await migrate(postgres.url);
  const callers = await withServices(postgres.url, ({ db }) =>
    Promise.all(users.map((user) => insertCaller(db, user))),
  );

  const announced = new Announced();
  let postgresKilledAt = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const servers = Array.from({ length: PROCESSES }, () => startServer(postgres.url, callers, announced));
    await announced.more(servers);
    if (round === 1) {
      postgresKilledAt = Date.now();
      process.kill(postgres.pid, 'SIGKILL');
      postgres = await startEmbeddedPostgres({ dir });
      await announced.more(servers);
    }
    await servers[0]?.kill();
    await announced.more(servers.slice(1));
    await Promise.all(servers.map(({ kill }) => kill()));
    await withServices(postgres.url, closeLost);
  }

  await withServices(postgres.url, async ({ db }) => {
    const events = await db
      .selectFrom('usage_events')
      .select(['window_id', 'id', 'amount_micro', 'n'])
      .execute();
    // Every written event belongs to exactly one use.
    const written = new Set(events.map(({ id }) => id));
    expect(written.size).toBe(events.length);
    for (const { id, amount_micro } of events)
      expect(announced.settled.get(id)?.amount).toBe(Number(amount_micro));
    // Every acknowledged event exists.
    const windows = await db.selectFrom('usage_windows').selectAll().execute();
    const eventsOf = new Map(windows.map(({ id, events: count }) => [id, Number(count)]));
    for (const [window, count] of announced.written)
      expect(eventsOf.get(window)).toBeGreaterThanOrEqual(count);
    const uses = [...announced.settled];
    const mayBeForgotten = forgettable(announced, eventsOf, postgresKilledAt);
    const forgotten = uses.filter(([id]) => !written.has(id)).map(([, use]) => use);
    expect(forgotten.filter((use) => !mayBeForgotten(use))).toEqual([]);
    expect(uses.filter(([, use]) => !mayBeForgotten(use)).length).toBeGreaterThan(uses.length / 2);

    await expectCharged(db, callers, postgresKilledAt);
    await sealTransfers(db);
    const report = await verifyLedger(db);
    expect(report.checks.filter((check) => !check.ok)).toEqual([]);
    expect(report.openHolds).toBe(0);
  });
});

/**
 * Expects that users paid for all usage that their holds covered, that no key exceeds its budget, and that no
 * hold is left.
 */
async function expectCharged(db: Database, callers: string[], postgresKilledAt: number): Promise<void> {
  const windows = await db
    .selectFrom('usage_windows')
    .innerJoin('ledger_holds', 'ledger_holds.id', 'usage_windows.hold_id')
    .select([
      'usage_windows.user_id',
      'used_micro',
      'usage_windows.opened_at',
      'usage_windows.closed_at',
      'amount',
    ])
    .execute();
  for (const [index, caller] of callers.entries()) {
    const [userId = '', keyId = ''] = caller.split('/');
    const { grantMicro = 0n, budgetMicro = null } = users[index] ?? {};
    const own = windows.filter(({ user_id }) => user_id === userId);
    expect(own.every(({ closed_at }) => closed_at !== null)).toBe(true);
    // The growth of a hold is committed without waiting for the disk. Usage beyond the hold that PostgreSQL
    // remembers is not charged.
    for (const { opened_at } of own.filter(({ used_micro, amount }) => used_micro > amount))
      expect(opened_at.getTime()).toBeLessThan(postgresKilledAt);
    const charged = own.reduce(
      (sum, { used_micro, amount }) => sum + (used_micro > amount ? amount : used_micro),
      0n,
    );
    expect(await getUserTotals(db, userId)).toMatchObject({ balance: grantMicro - charged, held: 0n });
    const key = await findKey(db, keyId);
    expect([key.spent_micro, key.held_micro]).toEqual([charged, 0n]);
    if (budgetMicro !== null) expect(charged).toBeLessThanOrEqual(budgetMicro);
  }
}

const findKey = (db: Database, keyId: string) =>
  db.selectFrom('api_keys').selectAll().where('id', '=', keyId).executeTakeFirstOrThrow();

/**
 * Returns a check for uses that a crash may lose: the last uses of a killed process, or uses in windows that
 * were opened just before PostgreSQL was killed.
 */
function forgettable({ settled }: Announced, eventsOf: Map<string, number>, postgresKilledAt: number) {
  const openedAt = new Map<string, number>();
  for (const { window, at } of settled.values())
    openedAt.set(window, Math.min(openedAt.get(window) ?? at, at));
  return ({ window, at, server }: Settled): boolean =>
    eventsOf.has(window)
      ? at >= Math.min(server.killedAt - FORGOTTEN_MS_MAX, server.lastWriteAt)
      : Math.abs((openedAt.get(window) ?? 0) - postgresKilledAt) <= FORGOTTEN_MS_MAX;
}

type Server = {
  /** `wroteAt`: when the last write was acknowledged. `lastWriteAt`: when it started. */
  wroteAt: number;
  lastWriteAt: number;
  killedAt: number;
  kill: () => Promise<void>;
};

/** A settled use, with its time, window and server. */
type Settled = { amount: number; at: number; window: string; server: Server };

/** The output of the servers before they were killed. */
class Announced {
  readonly settled = new Map<string, Settled>();
  /** The number of acknowledged events by window. */
  readonly written = new Map<string, number>();
  private wake: () => void = () => undefined;

  hear(server: Server, line: string): void {
    const { settled, window, amount, at, written, events } = JSON.parse(line) as Record<
      string,
      string & number
    >;
    if (settled) {
      this.settled.set(settled, { amount: Number(amount), at: Number(at), window: String(window), server });
    }
    if (written) {
      this.written.set(written, Math.max(this.written.get(written) ?? 0, Number(events)));
      server.wroteAt = Date.now();
      server.lastWriteAt = Number(at);
    }
    this.wake();
  }

  /** Waits until there are enough new uses, and until every server has had a write acknowledged. */
  async more(servers: Server[]): Promise<void> {
    const [goal, from] = [this.settled.size + USES_PER_STAGE, Date.now()];
    await sleep(STAGE_MS);
    while (this.settled.size < goal || servers.some(({ wroteAt }) => wroteAt < from))
      await new Promise<void>((resolve) => (this.wake = resolve));
  }
}

function startServer(url: string, callers: string[], announced: Announced): Server {
  const program = fileURLToPath(import.meta.resolve('../testing/usage-crash-load.ts'));
  const child = spawn(process.execPath, [program, '--url', url, ...callers], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const server: Server = {
    wroteAt: 0,
    lastWriteAt: 0,
    killedAt: Infinity,
    kill: async () => {
      server.killedAt = Math.min(server.killedAt, Date.now());
      if (child.kill('SIGKILL')) await once(child, 'close');
    },
  };
  const lines = createInterface({ input: child.stdout });
  // The last line may be incomplete.
  lines.on('line', (line) => line.endsWith('}') && announced.hear(server, line));
  onFileEnd(server.kill);
  return server;
}

/** Inserts a user with a key, in the load's format. */
async function insertCaller(
  db: Database,
  { grantMicro, budgetMicro }: { grantMicro: bigint; budgetMicro: bigint | null },
): Promise<string> {
  const userId = await insertTestUser(db, { grantMicro });
  return `${userId}/${await insertTestKey(db, { userId, budgetMicro })}`;
}

/** Lets the leases of the killed servers expire, after PostgreSQL has finished their queries. */
async function closeLost(services: Services): Promise<void> {
  await vi.waitFor(async () => {
    const others = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`.execute(
      services.db,
    );
    expect(others.rows).toEqual([]);
  });
  await sql`update usage_leaders set lease_until = now() - interval '1 second'`.execute(services.db);
  await closeLostWindowsJob.run(services, {}, new AbortController().signal);
}

async function withServices<T>(url: string, work: (services: Services) => Promise<T>): Promise<T> {
  const pool = createPool(url);
  const db = openDatabase(pool);
  try {
    return await work({
      db,
      pool,
      log: pino({ level: 'silent' }),
      clock: systemClock,
    } as unknown as Services);
  } finally {
    await db.destroy();
  }
}
