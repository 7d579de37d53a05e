import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../../testing/test-database.ts';
import { listAssets } from '../search/list-queries.ts';
import { findReadableAsset } from './find-readable-asset.ts';
import { type Way, ways } from './readable.ts';
import { selectReadableIds } from './select-readable-ids.ts';

const { db } = await testDatabase();
const users = ['ada', 'bob', 'eve'];

beforeAll(async () => {
  for (const id of users)
    await db
      .insertInto('users')
      .values({ id, name: id, username: id, email: `${id}@example.com` })
      .execute();
  // Each asset of Ada's is open in some of the ways: the number's bits say in which.
  await sql`
    insert into assets (owner_user_id, dataset_type, title, category, details, is_published, deleted_at)
    select 'ada', 'MODEL', n::text, '', '', n & 1 > 0, case when n & 8 > 0 then now() end from generate_series(0, 15) n`.execute(
    db,
  );
  await sql`
    insert into assets (dataset_type, title, category, details, is_starter, starter_slug, starter_task)
    values ('MODEL', 'starter', '', '', true, 'crumb', 'text')`.execute(db);
  await sql`insert into asset_shares (asset_id, user_id)
    select id, 'bob' from assets where not is_starter and title::int & 2 > 0`.execute(db);
  await sql`insert into restricted_models (id, name, family, tags, details, asset_id)
    select 'm/' || title, title, '', '{}', '', id from assets where not is_starter and title::int & 4 > 0`.execute(
    db,
  );
  await sql`insert into access_requests (restricted_model_id, user_id, message, state)
    select id, 'bob', '', 'granted' from restricted_models
    union all select id, 'eve', '', 'refused' from restricted_models`.execute(db);
});

const list = async (userId: string, whose: readonly Way[]) => {
  const page = { userId, type: 'MODEL', search: '', sort: 'title', cursor: null, limit: 100 } as const;
  return (await listAssets(db, { ...page, whose })).map(({ title }) => title);
};
const allAssets = () => db.selectFrom('assets').select(['id', 'title']).execute();

test('what may be read by itself is what lists have, in each way', async () => {
  const all = await allAssets();
  for (const userId of users) {
    const ids = all.map(({ id }) => id);
    const readable = await selectReadableIds(db, { ids, userId });
    const titles = all.filter(({ id }) => readable.has(id)).map(({ title }) => title);
    expect(titles.toSorted(), userId).toEqual((await list(userId, ways)).toSorted());
    for (const { id, title } of all) {
      const found = findReadableAsset(db, { assetId: id, userId });
      if (titles.includes(title)) expect(await found).toMatchObject({ id });
      else await expect(found).rejects.toMatchObject({ code: 'not_found' });
    }
  }
});

test('each way opens what it says, once, and nothing that was deleted', async () => {
  expect(await list('ada', ways)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', 'starter']);
  expect(await list('bob', ways)).toEqual(['1', '2', '3', '4', '5', '6', '7', 'starter']);
  expect(await list('eve', ways)).toEqual(['1', '3', '5', '7', 'starter']);
  expect(await list('bob', ['published'])).toEqual(['1', '3', '5', '7']);
  expect(await list('bob', ['shared'])).toEqual(['2', '3', '6', '7']);
  expect(await list('bob', ['granted'])).toEqual(['4', '5', '6', '7']);
  expect(await list('bob', ['own'])).toEqual([]);
  expect(await list('bob', [])).toEqual([]);
});
