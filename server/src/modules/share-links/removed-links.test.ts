import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { earlierDatabase } from '../../testing/earlier-database.ts';

test('the migration keeps links of generations, and drops links of runs and models', async () => {
  const { db, upgrade } = await earlierDatabase('0066_share_links_of_generations.sql');
  // Foreign keys are disabled, so that the test needs no generations, runs and models.
  await sql
    .raw(
      `set session_replication_role = replica;
      insert into share_links (user_id, generation_id, run_id, asset_id) values
        ('ada', gen_random_uuid(), null, null),
        ('ada', null, gen_random_uuid(), null),
        ('ada', null, null, gen_random_uuid());
      reset session_replication_role`,
    )
    .execute(db);
  const links = () => db.selectFrom('share_links').select(['id', 'generation_id']).execute();
  const kept = (await links()).filter((link) => link.generation_id);
  await upgrade();
  expect(kept).toHaveLength(1);
  expect(await links()).toEqual(kept);
});
