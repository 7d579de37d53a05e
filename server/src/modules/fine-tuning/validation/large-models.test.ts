import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Context } from '../../../platform/context.ts';
import { recordingDatabase } from '../../../testing/recording-database.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { findTrainObstacle } from './find-train-obstacle.ts';

const FILES = 2000;
const { url } = await testDatabase();
const { db, asked } = recordingDatabase(url);

test('tells whether a model can be trained without reading its files in folders', async () => {
  const sha256 = 'a'.repeat(64);
  const [assetId, revisionId] = [randomUUID(), randomUUID()];
  await sql`insert into users (id, name, username, email) values ('ada', 'Ada', 'ada', 'ada@example.com')`.execute(
    db,
  );
  await db.insertInto('blobs').values({ sha256, size_bytes: 7n }).execute();
  await sql`
    insert into assets (id, owner_user_id, dataset_type, title, category, details)
    values (${assetId}, 'ada', 'MODEL', 'Large', '', '')`.execute(db);
  await sql`insert into revisions (id, asset_id, number) values (${revisionId}, ${assetId}, 1)`.execute(db);
  await sql`update assets set revision_id = ${revisionId} where id = ${assetId}`.execute(db);
  await sql`
    insert into asset_files (asset_id, path, first_number, sha256, size_bytes)
    select ${assetId}::uuid, 'samples/' || n || '.png', 1, ${sha256}, 7 from generate_series(1, ${FILES}::int) n
    union all select ${assetId}::uuid, 'model.safetensors', 1, ${sha256}, 7`.execute(db);

  asked.length = 0;
  const ctx = { db, caller: { kind: 'user', userId: 'ada', isOperator: false } } as unknown as Context;
  expect(await findTrainObstacle(ctx, { assetId })).toBe(
    'Large has no config.json, which describes its architecture',
  );
  expect(Math.max(...asked.map(({ rows }) => rows.length))).toBe(1);
});
