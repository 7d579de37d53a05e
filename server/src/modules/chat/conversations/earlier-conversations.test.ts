import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { earlierDatabase } from '../../../testing/earlier-database.ts';

test('migrates the single conversation per model, titled with its first question', async () => {
  const { db, upgrade } = await earlierDatabase('0034_many_conversations.sql', { withFunctions: true });
  // Skips the foreign key to users.
  await sql
    .raw(
      `set session_replication_role = replica;
      insert into conversations (user_id, id, version, save_id, content, size_bytes, saved_at) values
        ('ada', 'rye', 3, gen_random_uuid(), '{"turns": [{"role": "user", "content": "Which bread?"}]}', 2, now()),
        ('ada', 'spelt', 3, gen_random_uuid(), '{"turns": [], "unanswered": "Which cake?"}', 2, now());
      reset session_replication_role`,
    )
    .execute(db);
  await upgrade();
  const rows = await db
    .selectFrom('conversations')
    .select(['id', 'model', 'title', 'version'])
    .orderBy('model')
    .execute();
  expect(rows).toEqual([
    { id: expect.any(String), model: 'rye', title: 'Which bread?', version: 3 },
    { id: expect.any(String), model: 'spelt', title: 'Which cake?', version: 3 },
  ]);
  expect(rows[0]?.id).not.toBe(rows[1]?.id);
});
