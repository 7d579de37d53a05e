import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { Transaction } from '../../../platform/db/database.ts';
import { plansOf, recordingDatabase } from '../../../testing/recording-database.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { findPositions, listWaiting } from '../queries.ts';
import { chooseNext } from '../queue/queue.ts';

const WAITING = 3000;
const ENDED = 20_000;
const { url } = await testDatabase();
const recording = recordingDatabase(url);
const { db } = recording;
const now = new Date('2026-11-24T00:00:00Z');
const [first, second] = [randomUUID(), randomUUID()].toSorted() as [string, string];

// A long queue at a service without free places, and a short queue with a free place.
beforeAll(async () => {
  await sql`
    insert into users (id, name, username, email)
    select 'user' || n, n, 'user' || n, n || '@example.com' from generate_series(0, 9) n`.execute(db);
  await sql`
    insert into generations (id, user_id, generator, provider, model, prompt, parameters, request_sha256, state, steps,
      hold_id, held_micro, check_at, created_at, queue)
    select id, 'user' || n % 10, 'flux', case queue when 'upstream:fal' then 'upstream' else 'own' end, 'm', 'Bread', '{}', '',
      state, 1, gen_random_uuid(), 1, ${now}::timestamptz + (state <> 'queued')::int * interval '1 hour', ${now}, queue
    from (
      select uuidv7() as id, n, 'upstream:fal' as queue, case when n <= 4 then 'running' else 'queued' end as state
      from generate_series(1, ${WAITING}::int) n
      union all values (${first}::uuid, 1, 'starter:paris', 'queued'), (${second}::uuid, 2, 'starter:paris', 'queued')
    ) asked`.execute(db);
  await sql`
    insert into generations (user_id, generator, provider, model, prompt, parameters, request_sha256, state, steps, hold_id,
      held_micro, charged_micro, check_at, created_at, ended_at, queue)
    select 'user' || n % 10, 'flux', 'upstream', 'm', 'Bread', '{}', '', 'completed', 1, gen_random_uuid(), 1, 1, ${now},
      ${now}, ${now}, 'upstream:fal'
    from generate_series(1, ${ENDED}::int) n`.execute(db);
  await sql`analyze generations`.execute(db);
});

test.each<[string, () => Promise<unknown>, unknown]>([
  ['the position of a generation', () => findPositions(db, [second]), new Map([[second, 1]])],
  [
    'the first waiting generation',
    () => listWaiting(db, { queue: 'starter:paris', limit: 1 }),
    [{ id: first, userId: 'user1' }],
  ],
  [
    'the next generation',
    () =>
      db.transaction().execute((tx) => chooseNext(tx, { places: { own: 4, upstream: 4 }, now, atWork: [] })),
    first,
  ],
])('finds %s in a short queue without sorting a long one', async (_what, find, expected) => {
  expect(await find()).toEqual(expected);
  const plans = await plansOf(recording, find, { analyze: true });
  for (const plan of plans) {
    expect(plan).not.toContain('Seq Scan on generations');
    expect(plan).not.toMatch(/(WindowAgg|Sort) \(.*rows=\d{3,}/);
  }
});

test('choosing in one queue does not block another, and no two transactions choose in the same queue', async () => {
  const choose = (tx: Transaction) => chooseNext(tx, { places: { own: 4, upstream: 5 }, now, atWork: [] });
  const queueOf = async (id: string | null) =>
    (await db.selectFrom('generations').select('queue').where('id', '=', id).executeTakeFirst())?.queue;
  await db.transaction().execute(async (one) => {
    expect(await queueOf(await choose(one))).toBe('starter:paris');
    await db.transaction().execute(async (other) => {
      expect(await queueOf(await choose(other))).toBe('upstream:fal');
      await db.transaction().execute(async (third) => expect(await choose(third)).toBeNull());
    });
  });
});
