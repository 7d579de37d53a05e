import { cp, readdir } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { expect, inject, test } from 'vitest';
import { connect } from '../../../platform/db/database.ts';
import { MIGRATIONS_DIR, migrate } from '../../../platform/db/setup/migrate.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { createDatabase, dropDatabase } from '../../../testing/temporary-postgres.ts';

const STEP = '0034_many_conversations.sql';

test('of a user who had one conversation with each model each stays, with its first question as its title', async () => {
  const name = `conversations_${process.pid}`;
  const url = await createDatabase(inject('postgresUrl'), name);
  const db = connect(url);
  onFileEnd(async () => {
    await db.destroy();
    await dropDatabase(inject('postgresUrl'), name);
  });
  const dir = await temporaryFolder();
  const steps = (await readdir(MIGRATIONS_DIR)).filter((file) => file.endsWith('.sql') && file < STEP);
  for (const file of [...steps, 'functions'])
    await cp(path.join(MIGRATIONS_DIR, file), path.join(dir, file), { recursive: true });
  await migrate(url, dir);
  // No user is asked for.
  await sql
    .raw(
      `set session_replication_role = replica;
      insert into conversations (user_id, id, version, save_id, content, size_bytes, saved_at) values
        ('ada', 'rye', 3, gen_random_uuid(), '{"turns": [{"role": "user", "content": "Which bread?"}]}', 2, now()),
        ('ada', 'spelt', 3, gen_random_uuid(), '{"turns": [], "unanswered": "Which cake?"}', 2, now());
      reset session_replication_role`,
    )
    .execute(db);
  await cp(path.join(MIGRATIONS_DIR, STEP), path.join(dir, STEP));
  await migrate(url, dir);
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
