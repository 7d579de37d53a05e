import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { connect, type Database } from '../../../platform/db/database.ts';
import { migrate } from '../../../platform/db/setup/migrate.ts';
import {
  discardEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../platform/postgres/embedded-postgres.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { insertTestUser } from '../testing/test-user.ts';
import { sealTransfers } from '../verification/chain.ts';
import { verifyLedger } from '../verification/verify-ledger.ts';
import { expireHolds } from './holds/holds.ts';

const ROUNDS = 30;
const LIMIT_MS = 3_600_000;
const TRANSFERS_PER_ROUND = 150;

test('kill -9 of clients and of PostgreSQL under load loses no acknowledged transfer and leaves no hold', {
  timeout: LIMIT_MS,
}, async () => {
  // A separate durable PostgreSQL: the tests' shared one trades durability for speed.
  const home = await mkdtemp(path.join(tmpdir(), 'bakehouse-crash-'));
  await chmod(home, 0o755);
  const dir = path.join(home, 'postgres');
  onFileEnd(async () => {
    await discardEmbeddedPostgres(dir);
    await rm(home, { recursive: true, force: true });
  });
  let postgres = await startEmbeddedPostgres({ dir });
  await migrate(postgres.url);

  const users = await withDatabase(postgres.url, (db) =>
    Promise.all(Array.from({ length: 5 }, () => insertTestUser(db, { boughtMicro: 1_000_000n }))),
  );
  const acknowledged = new Set<string>();

  for (let round = 0; round < ROUNDS; round += 1) {
    const load = startLoad(postgres.url, users, acknowledged);
    await load.more(TRANSFERS_PER_ROUND);
    if (round % 2) {
      process.kill(postgres.pid, 'SIGKILL');
      postgres = await startEmbeddedPostgres({ dir });
      await load.more(TRANSFERS_PER_ROUND);
    }
    await load.kill();
  }

  await withDatabase(postgres.url, async (db) => {
    const kept = new Set(
      (await db.selectFrom('ledger_transfers').select('id').execute()).map((row) => row.id),
    );
    expect([...acknowledged].filter((id) => !kept.has(id))).toEqual([]);
    expect(acknowledged.size).toBeGreaterThan(ROUNDS * TRANSFERS_PER_ROUND);

    expect((await verifyLedger(db)).openHolds).toBeGreaterThan(0);
    const later = new Date(Date.now() + 3_600_000);
    await db.transaction().execute((tx) => expireHolds(tx, { now: later, limit: 100_000 }));
    await sealTransfers(db);
    const report = await verifyLedger(db);
    expect(report.checks.filter((check) => !check.ok)).toEqual([]);
    expect(report.openHolds).toBe(0);
    expect(report.sealedTransfers).toBe(report.transfers);
  });
});

async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = connect(url);
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

/** Starts the load and records the printed ids; `more(n)` waits for the next n. */
function startLoad(url: string, users: string[], acknowledged: Set<string>) {
  const program = fileURLToPath(import.meta.resolve('./testing/ledger-crash-load.ts'));
  const child = spawn(process.execPath, [program, '--url', url, ...users], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = async () => {
    if (child.kill('SIGKILL')) await once(child, 'close');
  };
  onFileEnd(kill);
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (id) => acknowledged.add(id));
  const ended = once(child, 'exit').then(() => {
    throw new Error('The load has ended');
  });
  ended.catch(() => undefined);
  const more = async (count: number) => {
    const goal = acknowledged.size + count;
    while (acknowledged.size < goal) await Promise.race([once(lines, 'line'), ended]);
  };
  return { more, kill };
}
