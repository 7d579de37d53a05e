import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { testDatabase } from '../../testing/test-database.ts';
import { type Transaction } from './database.ts';
import { inTransaction, runPrepared } from './in-transaction.ts';

const { db, pool } = await testDatabase();

test('two transactions in a deadlock both complete', async () => {
  await sql`create table pair (id integer primary key, n integer not null)`.execute(db);
  await sql`insert into pair values (1, 0), (2, 0)`.execute(db);
  const add = (tx: Transaction, id: number) => sql`update pair set n = n + 1 where id = ${id}`.execute(tx);
  let arrived = 0;
  let open: () => void = () => undefined;
  const bothHaveOne = new Promise<void>((resolve) => {
    open = resolve;
  });
  const inOrder = (first: number, second: number) => async (tx: Transaction) => {
    await add(tx, first);
    arrived += 1;
    if (arrived === 2) open();
    await bothHaveOne;
    await add(tx, second);
  };
  await Promise.all([inTransaction(db, inOrder(1, 2)), inTransaction(db, inOrder(2, 1))]);
  // One of them was rolled back and retried, possibly several times.
  expect(arrived).toBeGreaterThanOrEqual(3);
  expect((await sql`select id, n from pair order by id`.execute(db)).rows).toEqual([
    { id: 1, n: 2 },
    { id: 2, n: 2 },
  ]);
});

test.each([
  ['40P01', 4],
  ['40001', 4],
  ['23505', 1],
])('a persistent error %s is tried %i times in total', async (code, times) => {
  const work = vi.fn(async (tx: Transaction) => {
    await sql`do ${sql.raw(`$$ begin raise exception 'no' using errcode = '${code}'; end $$`)}`.execute(tx);
  });
  await expect(inTransaction(db, work)).rejects.toMatchObject({ code });
  expect(work).toHaveBeenCalledTimes(times);
});

test('retries a prepared statement that was cancelled because of a conflict', async () => {
  await sql`create sequence tries`.execute(db);
  await sql`create function meet() returns bigint language plpgsql as $$
    begin
      if nextval('tries') < 3 then raise exception 'no' using errcode = '40P01'; end if;
      return currval('tries');
    end $$`.execute(db);
  expect(await runPrepared({ db, pool }, 'meet', sql<{ tries: bigint }>`select meet() as tries`)).toEqual([
    { tries: 3n },
  ]);
});
