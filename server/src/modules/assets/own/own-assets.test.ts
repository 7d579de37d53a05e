import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { plansOf, recordingDatabase } from '../../../testing/recording-database.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { countOwnAssets } from './count-own-assets.ts';
import { listOwnAssets } from './own-assets.ts';
import { selectOwnAssets } from './queries.ts';

const { url } = await testDatabase();
const recording = recordingDatabase(url);
const { db } = recording;

beforeAll(async () => {
  for (const id of ['flo', 'bob'])
    await db
      .insertInto('users')
      .values({ id, name: id, username: id, email: `${id}@example.com` })
      .execute();
  // Groups of three with the same time, a millisecond apart; the last hundred are deleted.
  await sql`
    insert into assets (owner_user_id, dataset_type, title, category, details, created_at, deleted_at)
    select case when n % 100 = 0 then 'bob' else 'flo' end, case when n % 4 = 0 then 'MODEL' else 'RAW' end, n::text, '', '',
      '2026-11-24'::timestamptz + n / 3 * interval '1 millisecond', case when n > 1200 then now() end
    from generate_series(1, 1300) n`.execute(db);
  await sql`analyze assets`.execute(db);
});

test('yields all assets of a user, newest first', async () => {
  const ids = await Array.fromAsync(listOwnAssets(db, 'flo'));
  const titles = await db.selectFrom('assets').select(['id', 'title']).execute();
  const numberOf = new Map(titles.map(({ id, title }) => [id, Number(title)]));
  const numbers = ids.map((id) => numberOf.get(id) ?? 0);
  expect(numbers.toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 1200 }, (_, index) => index + 1).filter((number) => number % 100 !== 0),
  );
  const moments = numbers.map((number) => Math.floor(number / 3));
  expect(moments).toEqual(moments.toSorted((a, b) => b - a));
});

test('counts datasets and models', async () => {
  expect(await countOwnAssets(db, 'flo')).toEqual({ datasets: 900, models: 288 });
});

test('reads each page in order, without the rest', async () => {
  const page = { userId: 'flo', limit: 50 };
  const after = (await selectOwnAssets(db, { ...page, after: null })).at(-1) ?? null;
  for (const place of [null, after]) {
    const [plan] = await plansOf(recording, () => selectOwnAssets(db, { ...page, after: place }));
    expect(plan).toMatch(/Backward using assets_by_creation/);
    expect(plan).not.toContain('Sort');
  }
});
