import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { getAsset } from '@bakehouse/contract/assets';
import { chatCompletions } from '@bakehouse/contract/chat';
import { getBalance, transferTokens } from '@bakehouse/contract/credits';
import { terminatePod, vllmStatus } from '@bakehouse/contract/deployments/text';
import { listRuns } from '@bakehouse/contract/runs';
import { sql } from 'kysely';
import pg from 'pg';
import { expect, inject, test, vi } from 'vitest';
import type { Driver } from '../engine/drivers/driver.ts';
import { createFakeDriver, type Script } from '../engine/drivers/fake/fake-driver.ts';
import { expireHoldsJob } from '../modules/billing/jobs/ledger-jobs.ts';
import { expireHolds } from '../modules/billing/ledger/holds/holds.ts';
import { listTransactions } from '../modules/billing/statement/transactions.ts';
import { proveLedger, verifyLedger } from '../modules/billing/verification/verify-ledger.ts';
import { stubModelServer } from '../modules/deployments/testing/stub-model-server.ts';
import type { Context } from '../platform/context.ts';
import { connect } from '../platform/db/database.ts';
import { MIGRATIONS_DIR, migrate } from '../platform/db/setup/migrate.ts';
import { prepareDatabase } from '../platform/db/setup/prepare-database.ts';
import { findStoredBytes } from '../platform/storage/owner-queries.ts';
import { migrateBefore } from '../testing/earlier-database.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { onFileEnd } from '../testing/on-file-end.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { createDatabase, dropDatabase } from '../testing/temporary-postgres.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

/*
 * The state of a database at the baseline with work in progress: Ada has a live deployment, a run in
 * training, and credits held for an interrupted answer. Each line of JSON contains the rows of one table.
 */
const BASELINE = '0001_baseline.sql';
const FIXTURE = path.join(MIGRATIONS_DIR, 'fixtures/0001.jsonl');
const MADE_AT = new Date('2026-11-21T04:49:12Z');
const ada = {
  userId: '2S8xZCvcy0GTftDHL3b8BbNglydOQ48t',
  apiKey: 'bk_F3dHKhmT3h9twOXVB2fZIHYBjvyTmITUAWQQCNiRz110IvHDd',
  datasetId: '53a9e3d0-7fc3-4568-b494-c5a26280308e',
  runModelId: '0039d3cb-c9e1-4655-a80c-20933d1658d6',
  podId: '75dad520-7fe9-43bc-879d-34a138ccfc8b',
};
const bob = {
  userId: 'tucgydjgqwWHWETgaEfaPyjI9kzY9lJU',
  apiKey: 'bk_H1eOg6nu33dyeshPgiW1daHQH0nUOsWYf3RQXDIMljG3TSfAU',
};

/** Returns a database with the baseline's schema and these rows, before any later migration. */
async function databaseOfThen(nth = 1): Promise<{ url: string; close: () => Promise<void> }> {
  const name = `upgrade_${process.pid}_${nth}`;
  const url = await createDatabase(inject('postgresUrl'), name);
  const dir = await temporaryFolder();
  await cp(path.join(MIGRATIONS_DIR, BASELINE), path.join(dir, BASELINE));
  await migrate(url, dir);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // Insert the rows without checking foreign keys, so that their order does not matter.
  await client.query('set session_replication_role = replica');
  for (const line of (await readFile(FIXTURE, 'utf8')).trim().split('\n')) {
    const { table, rows } = JSON.parse(line) as { table: string; rows: object[] };
    const columns = Object.keys(rows[0] ?? {}).map((column) => client.escapeIdentifier(column));
    // Delete the rows that the baseline itself inserts, because the fixture has them too.
    await client.query(`delete from ${table}`);
    await client.query(
      `insert into ${table} (${columns.join()}) overriding system value
       select ${columns.join()} from json_populate_recordset(null::${table}, ($1::json)->'rows')`,
      [line],
    );
  }
  await client.query(`
    do $$ declare s record; begin
      for s in
        select c.oid::regclass as name, a.attname as column, pg_get_serial_sequence(c.oid::regclass::text, a.attname) as seq
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
          and pg_get_serial_sequence(c.oid::regclass::text, a.attname) is not null
      loop
        execute format('select setval(%L, coalesce((select max(%I) from %s), 0) + 1, false)', s.seq, s.column, s.name);
      end loop;
    end $$`);
  await client.end();
  return { url, close: () => dropDatabase(inject('postgresUrl'), name) };
}

/** A run that completes when the server restarts it. */
const finish: Script = async ({ workloadId, server }) => {
  const post = async (reports: object[]) => {
    const answer = await fetch(`${server.base_url}/runtime/v1/workloads/${workloadId}/reports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ reports }),
    });
    return (await answer.json()) as { accepted_seq: number };
  };
  const { accepted_seq: seq } = await post([]);
  const at = MADE_AT.toISOString();
  await post([
    { seq: seq + 1, at, type: 'phase', phase: 'training' },
    { seq: seq + 2, at, type: 'progress', done: 2, total: 2, unit: 'steps', remaining_seconds: 0 },
    { seq: seq + 3, at, type: 'result', files: [], summary: {} },
  ]);
  return 0;
};

/**
 * Behaves like the local driver after a restart: it knows the earlier attempts, and reports that they ended
 * with that server.
 */
function restartedDriver(): Driver {
  const stub = stubModelServer();
  const fake = createFakeDriver({
    capacity: { 'cpu:run': 1, 'cpu:deployment': 8 },
    script: (launch, process) => (launch.behaviour === 'run' ? finish : stub.script)(launch, process),
  });
  return {
    ...fake,
    observe: async (workloadId, attempt) => {
      const observed = await fake.observe(workloadId, attempt);
      return observed.state === 'absent' && attempt === 1
        ? { state: 'ended', by: 'itself', exitCode: null, lastLine: null, folder: 'kept' }
        : observed;
    },
  };
}

async function balanceOf(server: TestServer, as: typeof bob) {
  return server.request(getBalance, { params: { userId: as.userId } }, { as });
}

async function expectSoundLedger({ services }: TestServer): Promise<void> {
  expect((await verifyLedger(services.db)).checks.filter(({ ok }) => !ok)).toEqual([]);
}

/** What must be equal before and after the upgrade: keys, balances, files and bytes. */
async function expectWhatWas(server: TestServer): Promise<void> {
  const { db } = server.services;
  expect(await balanceOf(server, ada)).toMatchObject({ balance: '121.499958', held: '1.272629' });
  expect(await balanceOf(server, bob)).toMatchObject({ balance: '128.5', held: '0' });
  await expectSoundLedger(server);
  const dataset = await server.request(getAsset, { params: { id: ada.datasetId } }, { as: ada });
  expect(dataset.files.map((file) => file.path)).toEqual(['copy.csv', 'rows.csv']);
  expect(await findStoredBytes(db, ada.userId)).toBe(132n);
  const owners = await db
    .selectFrom('blob_owners')
    .select('owner_kind')
    .distinct()
    .orderBy('owner_kind')
    .execute();
  expect(owners.map((one) => one.owner_kind)).toEqual(['starter', 'user', 'workload']);
  // The idempotency key of a call before the upgrade returns the same answer, and no credits are sent again.
  const body = { user_id: ada.userId, recipient_id: 'bob-2@example.com', amount: '2.5' };
  await server.request(transferTokens, { body }, { as: ada, idempotencyKey: 'sent-once' });
  expect(await balanceOf(server, bob)).toMatchObject({ balance: '128.5' });
}

async function findRunOfThen(server: TestServer) {
  return (await server.request(listRuns, { query: { model_id: ada.runModelId } }, { as: ada })).runs[0];
}

async function expectDeploymentAnswers(server: TestServer): Promise<void> {
  const params = { podId: ada.podId };
  expect(await server.request(vllmStatus, { params }, { as: ada })).toMatchObject({ status: 'running' });
  const messages = [{ role: 'user' as const, content: 'What do you bake?' }];
  const body = { model: 'crumb-expert', messages, stream: false };
  const answer = await server.send(chatCompletions, { body }, { as: ada });
  expect(answer.status, await answer.text()).toBe(200);
}

test('a database at the baseline is upgraded during work without losing anything', async () => {
  const database = await databaseOfThen();
  await prepareDatabase(database.url);
  const clock = fakeClock(MADE_AT);
  const roles = ['web', 'worker', 'reconciler'] as const;
  const server = await testServer({ database, clock, driver: restartedDriver(), roles: [...roles] });
  await expectWhatWas(server);

  // Work in progress is restarted.
  await vi.waitFor(
    async () => {
      clock.advance({ seconds: 5 });
      expect(await findRunOfThen(server)).toMatchObject({ state: 'completed' });
    },
    { interval: 100 },
  );
  await vi.waitFor(
    async () => {
      clock.advance({ seconds: 5 });
      await expectDeploymentAnswers(server);
    },
    { interval: 200 },
  );

  // All holds end: the run's when it is charged, the deployment's when it is terminated, and the interrupted
  // answer's when it expires.
  const end = { params: { podId: ada.podId }, query: { user_id: ada.userId } };
  await server.request(terminatePod, end, { as: ada });
  expect(await findRunOfThen(server)).toMatchObject({ held: '0' });

  clock.advance({ hours: 3 });
  await expireHoldsJob.run(server.services, {}, AbortSignal.timeout(10_000));
  await expectSoundLedger(server);
  expect(await balanceOf(server, ada)).toMatchObject({ held: '0' });
}, 120_000);

test('a seal that existed before an upgrade and is deleted afterwards is detected', async () => {
  const { url, close } = await databaseOfThen(2);
  const db = connect(url);
  onFileEnd(async () => {
    await db.destroy();
    await close();
  });
  await sql`
    insert into ledger_verifications (seq, hash, totals_digest)
    select seq, hash, '' from ledger_seals order by seq`.execute(db);
  await sql`insert into ledger_last_proof (proved_at, report) values (now(), '{"checks": []}')`.execute(db);
  await prepareDatabase(url);
  await db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`delete from ledger_seals where seq = 6`.execute(tx);
  });
  const chain = (await proveLedger(db)).checks.find(({ name }) => name === 'chain');
  expect(chain?.detail).toBe('The seal of transfer 6 differs from the one verified before');
});

/** Inserts two judgements of Ada: a charged one, and a running one that holds credits. */
async function insertJudgements(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    begin;
    set local session_replication_role = replica;
    create temporary table charge on commit drop as
      select gen_random_uuid() as charged_hold, gen_random_uuid() as pending_hold,
        'user:${ada.userId}' as payer, 'revenue:llm_inference' as earner,
        'Answers of a fine-tune judged by crumb' as description, '{"asset_name": "crumb"}'::jsonb as refs,
        now() + interval '1 day' as expires_at;
    insert into ledger_holds (id, debit_account_id, credit_account_id, amount, amount_asked, kind, description, refs,
      idempotency_key, status, settled_amount, expires_at, ended_at)
    select charged_hold, payer, earner, 50, 50, 'charge', description, refs, 'judgement:1', 'settled', 40, expires_at, now()
    from charge
    union all
    select pending_hold, payer, earner, 60, 60, 'charge', description, refs, 'judgement:2', 'pending', null, expires_at, null
    from charge;
    insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs, hold_id, given)
    select payer, earner, 40, 'charge', description, refs, charged_hold, 40 from charge;
    update ledger_accounts set debits_posted = debits_posted + 40, debits_pending = debits_pending + 60,
      given = given - 40 where id = 'user:${ada.userId}';
    update ledger_given set remaining = remaining - 40 where account_id = 'user:${ada.userId}';
    insert into judgements (id, run_id, user_id, model, prompt, prices, hold_id, held_micro, cost_micro, started_at,
      expires_at, ended_at, outcome, check_at)
    select charged_hold, charged_hold, '${ada.userId}', 'crumb', '', '{}'::jsonb, charged_hold, 50, 40, now(), now(), now(),
      'completed', now() from charge
    union all
    select pending_hold, pending_hold, '${ada.userId}', 'crumb', '', '{}'::jsonb, pending_hold, 60, 10, now(), now(), null,
      null, now() from charge;
    insert into judge_answers (judgement_id, row_number, tuned_first, text, verdict)
    select id, 0, false, 'B', 'B' from judgements;
    commit`);
  await client.end();
}

test('the step that drops judgements releases their holds and retains their charges in the history', async () => {
  const { url, close } = await databaseOfThen(3);
  const db = connect(url);
  onFileEnd(async () => {
    await db.destroy();
    await close();
  });
  await migrateBefore(url, '0060');
  await insertJudgements(url);
  await prepareDatabase(url);
  const { rows } =
    await sql`select to_regclass('judgements') as one, to_regclass('judge_answers') as other`.execute(db);
  expect(rows).toEqual([{ one: null, other: null }]);
  const history = async () => {
    const ctx = { db, caller: { kind: 'user', userId: ada.userId, isOperator: false } } as unknown as Context;
    const { transactions } = await listTransactions(ctx, { limit: 100, time_zone: 'UTC' });
    return transactions
      .filter(({ description }) => description === 'Answers of a fine-tune judged by crumb')
      .map(({ amount, status }) => ({ amount, status }));
  };
  const charged = { amount: '0.00004', status: 'completed' };
  expect(await history()).toEqual([{ amount: '0.00006', status: 'pending' }, charged]);
  await db.transaction().execute((tx) => expireHolds(tx, { now: new Date(), limit: 100 }));
  expect(await history()).toEqual([charged]);
  expect((await verifyLedger(db)).checks.filter(({ ok }) => !ok)).toEqual([]);
});

test('two web processes answer while a step that only adds is applied', async () => {
  const database = await databaseOfThen(4);
  await prepareDatabase(database.url);
  const clock = fakeClock(MADE_AT);
  const first = await testServer({ database, clock, roles: ['web'] });
  const second = await testServer({
    database: { ...database, close: async () => {} },
    clock,
    roles: ['web'],
  });
  const next = await temporaryFolder();
  await cp(MIGRATIONS_DIR, next, { recursive: true });
  const step = "-- expand\nalter table ledger_accounts add column more text not null default '';";
  await writeFile(path.join(next, '9999_more.sql'), step);
  let answers = 0;
  let migrated = false;
  const ask = async (server: TestServer) => {
    for (let after = 0; after < 2; after += Number(migrated)) {
      await balanceOf(server, ada);
      answers += 1;
    }
  };
  const asking = Promise.all([ask(first), ask(second)]);
  await vi.waitFor(() => expect(answers).toBeGreaterThan(4));
  expect(await migrate(database.url, next)).toEqual(['9999_more.sql']);
  migrated = true;
  await asking;
});
