import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { earlierDatabase } from '../../testing/earlier-database.ts';

test('the migration keeps models that were mirrored for all users, and drops their clones and uploads', async () => {
  const { db, upgrade } = await earlierDatabase('0064_no_hub_mirror.sql');
  await sql
    .raw(
      `set session_replication_role = replica;
      insert into assets (is_starter, starter_slug, starter_task, dataset_type, title, details, category, tags, namespace, name)
      select true, slug, task, type, 'x', '', '', '{}', namespace, name from (values
        ('starter', 'text', 'MODEL', null, 'Qwen-Rye'),
        ('Qwen/Rye', null, 'MODEL', 'Qwen', 'Rye'),
        ('mills/Spelt', null, 'MODEL', 'mills', 'Spelt'),
        ('datasets/mills/Spelt', null, 'RAW', 'mills', 'Spelt')
      ) as made (slug, task, type, namespace, name);
      insert into hub_clones (user_id, repo_id, dataset_type, commit_id, check_at, created_at)
      select id, 'mills/Spelt', 'MODEL', repeat('a', 40), now(), now() from (values ('ada'), (null)) as made (id);
      insert into uploads (user_id, store_key, size_bytes, part_bytes)
      select id, coalesce(id, 'everybody'), 1, 1 from (values ('ada'), (null)) as made (id);
      reset session_replication_role`,
    )
    .execute(db);
  await upgrade();

  const assets = await db
    .selectFrom('assets')
    .select(['starter_slug', 'name'])
    .orderBy('starter_slug')
    .execute();
  expect(Object.fromEntries(assets.map((asset) => [asset.starter_slug, asset.name]))).toEqual({
    starter: 'Qwen-Rye',
    'Qwen/Rye': expect.stringMatching(/^Qwen-Rye-[0-9a-f]{10}$/),
    'mills/Spelt': 'mills-Spelt',
    'datasets/mills/Spelt': 'mills-Spelt',
  });
  expect(await db.selectFrom('hub_clones').select('user_id').execute()).toEqual([{ user_id: 'ada' }]);
  expect(await db.selectFrom('uploads').select('user_id').execute()).toEqual([{ user_id: 'ada' }]);
});
