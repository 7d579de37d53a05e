import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { untilWaiting } from '../../testing/test-database.ts';
import { testServer } from '../../testing/test-server.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { listUnownedBlobs } from './owner-queries.ts';
import { collectBlob, storeBlob } from './store-blob.ts';

const server = await testServer();
const { db, blobs } = server.services;

const later = () => new Date(Date.now() + 60_000);
const newBlob = () => storeBlob(server.services, Readable.from([randomBytes(100)]));

async function newWorkload(): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into workloads (behaviour, kind, title, spec, accelerator_count, check_at, created_at, queued_at, not_before)
    values ('run', 'test', 'Owner of bytes', '{}', 0, now(), now(), now(), now()) returning id`.execute(db);
  return rows[0]?.id ?? '';
}

async function ownersOf(workloadId: string): Promise<Record<string, bigint>> {
  const rows = await db
    .selectFrom('blob_owners')
    .select(['sha256', 'refs'])
    .where('owner_kind', '=', 'workload')
    .where('owner_id', '=', workloadId)
    .execute();
  return Object.fromEntries(rows.map(({ sha256, refs }) => [sha256, refs]));
}

test('every table that references bytes maintains their owners', async () => {
  const { rows } = await sql<{ name: string; events: string }>`
    select c.conrelid::regclass::text as name, string_agg(distinct case
        when (t.tgtype & 4) > 0 then 'insert' when (t.tgtype & 8) > 0 then 'delete' end, ' ') as events
    from pg_constraint c
    left join pg_trigger t on t.tgrelid = c.conrelid and pg_get_functiondef(t.tgfoid) ~ '(add|remove)_blob_owners' 
    where c.contype = 'f' and c.confrelid = 'blobs'::regclass and c.conrelid <> 'blob_owners'::regclass
      -- What goes with the bytes keeps none.
      and c.confdeltype <> 'c'
    group by 1`.execute(db);
  expect(rows.length).toBeGreaterThan(1);
  for (const { name, events } of rows) expect(events, name).toBe('delete insert');
});

test('a workload owns each file that it stores, until it is deleted', async () => {
  const [first, second] = [await newBlob(), await newBlob()];
  const workloadId = await newWorkload();
  const put = (path: string, blob: { sha256: string; sizeBytes: number }) =>
    sql`insert into workload_artefacts (workload_id, path, sha256, size_bytes, stored_at)
      values (${workloadId}, ${path}, ${blob.sha256}, ${blob.sizeBytes}, now())
      on conflict (workload_id, path) do update set sha256 = excluded.sha256`.execute(db);
  await Promise.all([put('a', first), put('b', first), put('c', second)]);
  expect(await ownersOf(workloadId)).toEqual({ [first.sha256]: 2n, [second.sha256]: 1n });
  await put('a', second);
  expect(await ownersOf(workloadId)).toEqual({ [first.sha256]: 1n, [second.sha256]: 2n });
  await put('b', second);
  expect(await ownersOf(workloadId)).toEqual({ [second.sha256]: 3n });
  expect(await listUnownedBlobs(db, later(), 1000)).toContain(first.sha256);
  await sql`delete from workload_artefacts where workload_id = ${workloadId}`.execute(db);
  expect(await ownersOf(workloadId)).toEqual({});
});

test('does not collect bytes that have an owner, or that are just getting one', async () => {
  const [owned, wanted, unwanted] = [await newBlob(), await newBlob(), await newBlob()];
  const workloadId = await newWorkload();
  const own = (tx: typeof db, { sha256 }: { sha256: string }) =>
    sql`insert into workload_artefacts (workload_id, path, sha256, size_bytes, stored_at)
      values (${workloadId}, ${sha256}, ${sha256}, 100, now())`.execute(tx);
  await own(db, owned);
  expect(await listUnownedBlobs(db, later(), 1000)).not.toContain(owned.sha256);

  const collect = ({ sha256 }: { sha256: string }) =>
    collectBlob(server.services, { sha256, untouchedSince: later() });
  const collecting: Promise<void>[] = [];
  await inTransaction(db, async (tx) => {
    await own(tx, wanted);
    collecting.push(collect(wanted));
    // The collector found no owner yet, and waits for this transaction.
    await untilWaiting(db);
  });
  await Promise.all([...collecting, collect(owned), collect(unwanted)]);
  expect(await blobs.stat(owned.sha256)).not.toBeNull();
  expect(await blobs.stat(wanted.sha256)).not.toBeNull();
  expect(await blobs.stat(unwanted.sha256)).toBeNull();
});
