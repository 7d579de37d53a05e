import { getEventListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { listTransactions } from '@bakehouse/contract/credits';
import { cancelGeneration, deleteGeneration, type Generation } from '@bakehouse/contract/generations';
import { parseBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { LeaseLost } from '../../../platform/leases/hold-lease.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { testGenerations } from '../../../testing/test-generations.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { expireHolds } from '../../billing/ledger/holds/holds.ts';
import { deletePreview, findPreviews, putPreview, updateGeneration } from '../queries.ts';
import { leaseNext } from '../queue/queue.ts';
import type { RunningParts } from './attempt.ts';
import { createGenerationLoop, runGeneration } from './run-generation.ts';

// Processes that run generations die at critical points. Only their leases remain, until they expire.
const setting = await testGenerations({ generates: false });
const { server, stub, clock } = setting;
const { db } = server.services;
const serving: RunningParts['serving'] = {
  capacity: async () => ({ 'cpu:deployment': 4 }),
  usage: server.app.usage,
};
const PLACES = { own: 4, upstream: 0 };

let ada: TestUser;
beforeEach(async () => {
  stub.startAnew();
  ada = await server.signUp('Ada');
});

/** Leases the next generation, as another process would. */
async function lease(services: Services = server.services) {
  const turn = await leaseNext(services, PLACES);
  if (!turn || 'ended' in turn) throw new Error('nobody had a turn');
  return turn.lease;
}

function anotherProcess() {
  const loop = createGenerationLoop({
    services: server.services,
    serving,
    places: PLACES,
  });
  onFileEnd(loop.stop);
  loop.start();
  return loop;
}

const leaseRunsOut = () => clock.advance({ seconds: 16 });
const charges = async (as: TestUser) => {
  const call = { params: { userId: as.userId }, query: {} };
  return (await server.request(listTransactions, call, { as })).transactions.filter(
    ({ description }) => description === 'Picture by Paris starter',
  );
};
/** Seconds until the lease expires. */
const lockedFor = async (id: string) => {
  const row = await db
    .selectFrom('generations')
    .select('locked_until')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return ((row.locked_until?.getTime() ?? 0) - clock.now().getTime()) / 1_000;
};
const attemptsOf = async (id: string) =>
  (await db.selectFrom('generations').select('attempt').where('id', '=', id).executeTakeFirstOrThrow())
    .attempt;

/** Returns a store that delays the end of each write until the test calls `goOn`. */
function slowStore() {
  const { blobs } = server.services;
  let goOn = () => {};
  const going = new Promise<void>((resolve) => (goOn = resolve));
  let stored = false;
  const withLocalFile: typeof blobs.withLocalFile = async (...args) => {
    stored = true;
    await going;
    return blobs.withLocalFile(...args);
  };
  const services: Services = { ...server.services, blobs: { ...blobs, withLocalFile } };
  return { services, stored: () => stored, goOn: () => goOn() };
}

test('renews the lease of a picture until the store has written it', async () => {
  const { id } = await setting.generate(ada);
  const { services, stored, goOn } = slowStore();
  const work = runGeneration({ services, serving, closing: new AbortController().signal }, await lease());
  await vi.waitFor(() => expect(stored()).toBe(true));
  for (let time = 1; time <= 2; time += 1) {
    clock.advance({ seconds: 10 });
    await vi.waitFor(async () => expect(await lockedFor(id)).toBeGreaterThan(10));
  }
  expect(await leaseNext(server.services, PLACES)).toBeNull();
  goOn();
  await work;
  expect(await setting.read(ada, id)).toMatchObject({ state: 'completed' });
  expect(await attemptsOf(id)).toBe(1);
});

test('does not lease a picture again that this process is running, even if its lease expired during a database outage', async () => {
  const { id } = await setting.generate(ada);
  await lease();
  clock.advance({ seconds: 16 });
  expect(await leaseNext(server.services, PLACES, [id])).toBeNull();
  expect(await leaseNext(server.services, PLACES)).toMatchObject({ lease: { id } });
  await server.request(cancelGeneration, { params: { id } }, { as: ada });
});

test('leaves no listeners on the process-wide abort signal', async () => {
  await setting.generate(ada);
  const { services, stored, goOn } = slowStore();
  const { signal: closing } = new AbortController();
  const work = runGeneration({ services, serving, closing }, await lease());
  await vi.waitFor(() => expect(stored()).toBe(true));
  expect(getEventListeners(closing, 'abort')).toHaveLength(1);
  goOn();
  await work;
  expect(getEventListeners(closing, 'abort')).toEqual([]);
});

test('deletes a preview that is written at the same time as the lease ends', async () => {
  const { id } = await setting.generate(ada);
  const { token } = await lease();
  let written: Promise<void> | undefined;
  await inTransaction(db, async (tx) => {
    await updateGeneration(tx, id, { lock_token: null });
    await deletePreview(tx, id);
    written = putPreview(db, { id, token }, 'data:image/png;base64,');
    await vi.waitFor(async () =>
      expect((await sql`select from pg_locks where not granted`.execute(db)).rows).toHaveLength(1),
    );
  });
  await written;
  expect(await findPreviews(db, [id])).toEqual(new Map());
  await server.request(cancelGeneration, { params: { id } }, { as: ada });
});

test('does not generate a picture whose hold has expired', async () => {
  const { id } = await setting.generate(ada);
  clock.advance({ days: 8 });
  await inTransaction(db, (tx) => expireHolds(tx, { now: clock.now(), limit: 10 }));
  expect(await leaseNext(server.services, PLACES)).toMatchObject({ ended: { id } });
  const { state, reason } = await setting.read(ada, id);
  expect([state, reason]).toEqual(['failed', 'It waited in the queue for too long']);
});

describe('the generating process dies', () => {
  test('right after the lease: another process resumes once the lease has expired', async () => {
    const { id } = await setting.generate(ada);
    await lease();
    const other = anotherProcess();
    expect(await setting.read(ada, id)).toMatchObject({ state: 'starting' });
    leaseRunsOut();
    await setting.until(ada, id, 'completed');
    await other.stop();
    expect(await attemptsOf(id)).toBe(1);
    expect(await charges(ada)).toHaveLength(1);
  });

  test('between storing and charging: the picture is generated again, charged once and stored once', async () => {
    const { id } = await setting.generate(ada);
    const { services, stored, goOn } = slowStore();
    const diedAt = clock.now();
    const dead: Services = { ...services, clock: { now: () => diedAt } };
    const work = runGeneration(
      { services: dead, serving, closing: new AbortController().signal },
      await lease(),
    );
    await vi.waitFor(() => expect(stored()).toBe(true));
    const other = anotherProcess();
    leaseRunsOut();
    const done = await setting.until(ada, id, 'completed');
    await other.stop();
    // The process was only paused, and so was its clock. It no longer holds the lease.
    goOn();
    await work;
    expect((await setting.read(ada, id)).outputs).toEqual(done.outputs);
    expect(done.outputs).toHaveLength(1);
    expect(await charges(ada)).toMatchObject([{ amount: '0.125', status: 'completed' }]);
  });

  test('repeatedly while the model server is generating: the picture is still generated and charged once', async () => {
    const { id } = await setting.generate(ada);
    for (let time = 1; time <= 20; time += 1) {
      await lease();
      leaseRunsOut();
    }
    const other = anotherProcess();
    await setting.until(ada, id, 'completed');
    await other.stop();
    expect(await charges(ada)).toHaveLength(1);
  });

  test('three times after the picture arrived: the picture may be the cause, so it fails at no cost', async () => {
    const before = await setting.balance(ada);
    const { id } = await setting.generate(ada);
    for (let time = 1; time <= 3; time += 1) {
      const { services, stored } = slowStore();
      const diedAt = clock.now();
      const dead: Services = { ...services, clock: { now: () => diedAt } };
      void runGeneration({ services: dead, serving, closing: new AbortController().signal }, await lease());
      await vi.waitFor(() => expect(stored()).toBe(true));
      leaseRunsOut();
    }
    expect(await leaseNext(server.services, PLACES)).toMatchObject({ ended: { id } });
    expect(await setting.read(ada, id)).toMatchObject({
      state: 'failed',
      reason: 'It was interrupted too many times',
    });
    expect(await setting.balance(ada)).toEqual(before);
  });

  test('during the inspection of the finished picture: the attempt counts', async () => {
    const { id } = await setting.generate(ada);
    const { blobs } = server.services;
    // The result is never saved.
    const withLocalFile = () => Promise.reject(new LeaseLost());
    const services: Services = { ...server.services, blobs: { ...blobs, withLocalFile } };
    await runGeneration({ services, serving, closing: new AbortController().signal }, await lease());
    expect(await attemptsOf(id)).toBe(1);
    await server.request(cancelGeneration, { params: { id } }, { as: ada });
  });

  test('by a graceful shutdown: the generation is requeued immediately and the attempt does not count', async () => {
    stub.answer = 'hang';
    const { id } = await setting.generate(ada);
    const first = anotherProcess();
    await setting.until(ada, id, 'running');
    await first.stop();
    expect(await setting.read(ada, id)).toMatchObject({ state: 'queued', step: 0, preview: null });
    expect(await attemptsOf(id)).toBe(0);
    stub.answer = 'ok';
    const second = anotherProcess();
    await setting.until(ada, id, 'completed');
    await second.stop();
  });
});

test('balances stay correct under random events of two users', async () => {
  const seed = Date.now() % 2 ** 31;
  const below = numbers(seed);
  const users = [ada, await server.signUp('Bob')];
  const before = await Promise.all(users.map(setting.balance));
  const loops = [anotherProcess(), anotherProcess()];
  const answers = ['ok', 'ok', 'die', 'refuse', 'broken picture'] as const;
  const made: { as: TestUser; id: string }[] = [];
  /** Final state of each generation; for a deleted one, its state right before. */
  const ends = new Map<string, Generation>();
  for (let move = 0; move < 40; move += 1) {
    stub.answer = answers[below(answers.length)] ?? 'ok';
    const as = users[below(2)] ?? ada;
    const one = made[below(Math.max(1, made.length))];
    const choice = below(6);
    if (choice < 3) {
      const started = await setting.generate(as, { num_inference_steps: 10 + below(5) }).catch(() => null);
      if (started) made.push({ as, id: started.id });
    } else if (choice === 3 && one) {
      await server.send(cancelGeneration, { params: { id: one.id } }, { as: one.as });
    } else if (choice === 4 && one) {
      await deleteOnceEnded(one.as, one.id, ends);
    } else clock.advance({ seconds: below(20) });
    // Gives some generations time to succeed or fail between the moves.
    await pause(below(60));
  }
  stub.answer = 'ok';
  await vi.waitFor(
    async () => {
      clock.advance({ seconds: 3 });
      const { rows } = await sql`select from generations where ended_at is null`.execute(db);
      expect(rows, `seed ${seed}`).toEqual([]);
    },
    { interval: 100 },
  );
  for (const loop of loops) await loop.stop();
  for (const { as, id } of made) if (!ends.has(id)) ends.set(id, await setting.read(as, id));
  const charged = await chargesByGeneration();
  for (const { id } of made) {
    const { state, cost, outputs } = ends.get(id) ?? {};
    const isDone = state === 'completed';
    expect(charged.get(id) ?? [], `seed ${seed}: ${state}`).toEqual(isDone ? [parseBgl(cost ?? '')] : []);
    expect(outputs, `seed ${seed}: ${state}`).toHaveLength(isDone ? 1 : 0);
  }
  for (const [index, as] of users.entries()) {
    const { balance, held } = await setting.balance(as);
    const own = made.filter((one) => one.as === as).flatMap(({ id }) => charged.get(id) ?? []);
    expect(held, `seed ${seed}`).toBe(0n);
    expect((before[index]?.balance ?? 0n) - balance, `seed ${seed}`).toBe(own.reduce((a, b) => a + b, 0n));
  }
}, 90_000);

/**
 * Deletes a generation and records its final state. Cancels it first, so that the state cannot change in
 * between.
 */
async function deleteOnceEnded(as: TestUser, id: string, ends: Map<string, Generation>): Promise<void> {
  const call = { params: { id } };
  if (ends.has(id)) return;
  ends.set(id, await server.request(cancelGeneration, call, { as }));
  await server.request(deleteGeneration, call, { as });
}

/** Returns the amounts of all charges per generation. */
async function chargesByGeneration(): Promise<Map<string, bigint[]>> {
  const { rows } = await sql<{ id: string; amount: bigint }>`
    select refs->>'generation_id' as id, amount from ledger_transfers
    where kind = 'charge' and refs ? 'generation_id'`.execute(db);
  return new Map(
    [...Map.groupBy(rows, ({ id }) => id)].map(([id, own]) => [id, own.map((one) => one.amount)]),
  );
}

/** Returns a pseudo-random number generator. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}
