import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { plansOf, recordingDatabase } from '../../testing/recording-database.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { selectGenerations } from './queries.ts';

const COUNT = 9_000;
const { url } = await testDatabase();
const recording = recordingDatabase(url);
const { db } = recording;
const now = new Date('2026-11-24T00:00:00Z');
const root = randomUUID();

// One user's generations, an hour apart; the first was edited three times.
beforeAll(async () => {
  await sql`insert into users (id, name, username, email) values ('ada', 'Ada', 'ada', 'ada@example.com')`.execute(
    db,
  );
  await sql`
    insert into generations (id, root_generation_id, user_id, generator, provider, model, prompt, parameters, request_sha256,
      state, steps, hold_id, held_micro, charged_micro, check_at, created_at, ended_at, queue)
    select case when n = 1 then ${root}::uuid else uuidv7() end, case when n between 2 and 4 then ${root}::uuid end, 'ada', 'flux',
      'own', 'm', case when n % 3000 = 7 then 'Rye with 50% Sunflower ' else 'Bread ' end || md5(n::text), '{}', '', 'completed', 1,
      gen_random_uuid(), 1, 1, at, at, at, 'starter:m'
    from generate_series(1, ${COUNT}::int) n, lateral (select ${now}::timestamptz - (${COUNT} - n) * interval '1 hour' as at)
    `.execute(db);
  await sql`analyze generations`.execute(db);
});

test.each([
  ['by words', { search: '50% sunflower' }, 3],
  ['by edit tree', { root }, 4],
  ['by ids', { ids: [root] }, 1],
  ['by end time', { endedSince: new Date(now.getTime() - 2.5 * 3_600_000) }, 3],
])('a list filtered %s reads only the rows it returns', async (_how, narrowed, length) => {
  const list = () => selectGenerations(db, { userId: 'ada', limit: 20, ...narrowed });
  expect(await list()).toHaveLength(length);
  const [plan = ''] = await plansOf(recording, list, { analyze: true });
  expect(plan).not.toMatch(/Rows Removed by (Filter|Index Recheck): \d{3,}/);
  expect(plan).not.toMatch(/Scan.* rows=\d{3,}/);
});
