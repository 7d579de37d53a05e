import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { testDatabase } from '../../testing/test-database.ts';
import type { LeasedTable } from './leased-table.ts';
import { runNextStep, type StepHandlers } from './run-next-step.ts';

const { db } = await testDatabase();
await sql`
  create table loaves (
    id uuid primary key default gen_random_uuid(), name text not null, state text not null,
    check_at timestamptz not null, lock_token uuid, locked_until timestamptz)`.execute(db);

type Loaf = { id: string; name: string; state: string };
const table: LeasedTable<Loaf, Loaf> = {
  name: 'loaves',
  columns: ['id', 'name', 'state'],
  due: sql<boolean>`state <> 'baked'`,
  toRow: (columns) => columns,
};

let time = new Date('2026-01-01T00:00:00Z');
const pass = (seconds: number) => {
  time = new Date(time.getTime() + seconds * 1000);
};
beforeEach(async () => {
  await sql`delete from loaves`.execute(db);
});

const put = (name: string) =>
  sql`insert into loaves (name, state, check_at) values (${name}, 'dough', ${time})`.execute(db);
const see = async (name: string) => {
  const { rows } = await sql<{ state: string; leased: boolean }>`
    select state, lock_token is not null as leased from loaves where name = ${name}`.execute(db);
  return rows[0];
};

/** Bakes loaves: puts dough into the oven, and marks it as baked afterwards. `oven` lists what was put in. */
function baker(oven: string[], more: Partial<StepHandlers<Loaf, boolean, string, string>> = {}) {
  const setState = (
    tx: Parameters<StepHandlers<Loaf, boolean, string, string>['apply']>[0],
    state: string,
    id: string,
  ) => sql`update loaves set state = ${state} where id = ${id}`.execute(tx);
  const handlers: StepHandlers<Loaf, boolean, string, string> = {
    observe: async ({ name }) => oven.includes(name),
    apply: async (tx, row, isIn) => {
      await setState(tx, isIn ? 'baked' : 'heating', row.id);
      return isIn ? null : row.name;
    },
    act: async (name) => {
      oven.push(name);
      return 'hot';
    },
    record: async (tx, row, _act, done) => void (await setState(tx, done, row.id)),
    ...more,
  };
  return (mayAct = () => true) => runNextStep({ db, table, now: () => time, mayAct }, handlers);
}

/** Returns a function that waits until `open` is called, and a promise that resolves once it waits. */
function pausing<T>(then: () => T) {
  const reached = Promise.withResolvers<void>();
  const open = Promise.withResolvers<void>();
  const pause = async () => {
    reached.resolve();
    await open.promise;
    return then();
  };
  return { pause, reached: reached.promise, open: open.resolve };
}

describe('a step', () => {
  test('is planned, written, executed and recorded; then the lease is released', async () => {
    await put('rye');
    const oven: string[] = [];
    const step = baker(oven);
    expect(await step()).toBe(true);
    expect(await see('rye')).toEqual({ state: 'hot', leased: false });
    expect(await step()).toBe(false);
    pass(4);
    expect(await step()).toBe(true);
    expect(await see('rye')).toEqual({ state: 'baked', leased: false });
    pass(60);
    expect(await step()).toBe(false);
    expect(oven).toEqual(['rye']);
  });

  test('is made for the row that has been due longest, and for each row by one process only', async () => {
    await put('first');
    pass(1);
    await put('second');
    const oven: string[] = [];
    const stepped = await Promise.all([baker(oven)(), baker(oven)(), baker(oven)()]);
    // It is random which of the three processes finds no row.
    expect(stepped.filter(Boolean)).toHaveLength(2);
    expect(oven.toSorted()).toEqual(['first', 'second']);
  });

  test('that was written is executed by the next process, if this one may no longer act', async () => {
    await put('rye');
    const oven: string[] = [];
    await baker(oven)(() => false);
    expect(oven).toEqual([]);
    expect(await see('rye')).toEqual({ state: 'heating', leased: true });
    pass(16);
    await baker(oven)();
    expect(oven).toEqual(['rye']);
  });
});

describe('a process that died', () => {
  const dies = async () => {
    throw new Error('killed');
  };
  test.each<[string, Partial<StepHandlers<Loaf, boolean, string, string>>, string[]]>([
    ['while it observes', { observe: dies }, []],
    ['while it writes', { apply: dies }, []],
    ['before it acts', { act: dies }, []],
    ['before it records', { record: dies }, ['rye']],
  ])('%s is replaced once its lease has expired', async (_when, handlers, done) => {
    await put('rye');
    const oven: string[] = [];
    await expect(baker(oven, handlers)()).rejects.toThrow('killed');
    expect(oven).toEqual(done);
    expect(await see('rye')).toMatchObject({ leased: true });
    pass(14);
    expect(await baker(oven)()).toBe(false);
    for (let looks = 0; looks < 2; looks += 1) {
      pass(4);
      await baker(oven)();
    }
    expect(await see('rye')).toEqual({ state: 'baked', leased: false });
    expect(oven).toEqual(['rye']);
  });
});

describe('a process that was only slow', () => {
  test.each(['observe', 'act'] as const)(
    'in %s finds that it lost the lease, and writes nothing',
    async (method) => {
      await put('rye');
      const oven: string[] = [];
      const slow = method === 'observe' ? pausing(() => false) : pausing(() => 'burnt');
      const lost = baker(oven, { [method]: slow.pause })();
      await slow.reached;
      pass(16);
      // When the slow process continues, the other one is still working, or done.
      const other = pausing(() => 'hot');
      const working = baker(oven, { act: other.pause })();
      await other.reached;
      const before = await see('rye');
      slow.open();
      await lost;
      expect(await see('rye')).toEqual(before);
      other.open();
      await working;
      expect(await see('rye')).toEqual({ state: 'hot', leased: false });
    },
  );
});
