import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { plansOf, recordingDatabase } from '../../testing/recording-database.ts';
import { testDatabase, untilWaiting } from '../../testing/test-database.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { listUnownedBlobs } from './owner-queries.ts';

const OWNED = 20_000;
const { url } = await testDatabase();
const recording = recordingDatabase(url);
const { db } = recording;
const later = () => new Date(Date.now() + 60_000);
const unowned = () => listUnownedBlobs(db, later(), 1000);

type Db = typeof db;
const hash = (name: string) => createHash('sha256').update(name).digest('hex');
const own = (tx: Db, owner: string, ...names: string[]) =>
  tx
    .insertInto('blob_owners')
    .values(
      names.map((name) => ({
        sha256: hash(name),
        owner_kind: 'workload',
        owner_id: owner,
        size_bytes: 1n,
        refs: 1n,
      })),
    )
    .execute();
const disown = (tx: Db, owner: string) =>
  tx.deleteFrom('blob_owners').where('owner_id', '=', owner).execute();
const insertBlob = (name: string) =>
  db
    .insertInto('blobs')
    .values({ sha256: hash(name), size_bytes: 1n })
    .execute();

test('finds blobs without an owner without scanning the others', async () => {
  await sql`
    with stored as (
      insert into blobs (sha256, size_bytes)
      select encode(sha256(n::text::bytea), 'hex'), 1 from generate_series(1, ${OWNED}::int) n returning sha256
    )
    insert into blob_owners (sha256, owner_kind, owner_id, size_bytes, refs)
    select sha256, 'workload', 'many', 1, 1 from stored`.execute(db);
  await insertBlob('alone');
  await sql`vacuum analyze blobs, blob_owners`.execute(db);
  expect(await unowned()).toEqual([hash('alone')]);
  const [plan = ''] = await plansOf(recording, unowned, { analyze: true });
  expect(plan).toContain('blobs_unowned');
  expect(plan).not.toMatch(/blob_owners|Seq Scan|rows=\d{3,}/);
});

test('a blob is unowned until it gets its first owner, and again after it loses its last one', async () => {
  await insertBlob('bread');
  const isUnowned = async () => (await unowned()).includes(hash('bread'));
  expect(await isUnowned()).toBe(true);
  await own(db, 'first', 'bread');
  await own(db, 'second', 'bread');
  expect(await isUnowned()).toBe(false);
  await disown(db, 'first');
  expect(await isUnowned()).toBe(false);
  await disown(db, 'second');
  expect(await isUnowned()).toBe(true);
});

test('if the last two owners are removed concurrently, the blob becomes unowned', async () => {
  await insertBlob('cake');
  await own(db, 'one', 'cake');
  await own(db, 'other', 'cake');
  let second: Promise<unknown> = Promise.resolve();
  await inTransaction(db, async (tx) => {
    await disown(tx, 'one');
    second = disown(db, 'other');
    await untilWaiting(db);
  });
  await second;
  expect(await unowned()).toContain(hash('cake'));
});

test('a blob stays owned if an owner is added while the last one is removed, in any order', async () => {
  await insertBlob('roll');
  await own(db, 'leaving', 'roll');
  let gone: Promise<unknown> = Promise.resolve();
  await inTransaction(db, async (tx) => {
    await own(tx, 'coming', 'roll');
    gone = disown(db, 'leaving');
    await untilWaiting(db);
  });
  await gone;
  expect(await unowned()).not.toContain(hash('roll'));

  let come: Promise<unknown> = Promise.resolve();
  await inTransaction(db, async (tx) => {
    await disown(tx, 'coming');
    come = own(db, 'last', 'roll');
    await untilWaiting(db);
  });
  await come;
  expect(await unowned()).not.toContain(hash('roll'));
});

test('two transactions that claim the same unowned blob do not deadlock', async () => {
  await insertBlob('bun');
  let second: Promise<unknown> = Promise.resolve();
  await inTransaction(db, async (tx) => {
    await own(tx, 'early', 'bun');
    second = own(db, 'late', 'bun');
    await untilWaiting(db);
  });
  await second;
  expect(await unowned()).not.toContain(hash('bun'));
});
