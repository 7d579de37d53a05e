import { randomBytes } from 'node:crypto';
import { listLoras } from '@bakehouse/contract/loras';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '../../../platform/db/database.ts';
import { plansOf, recordingDatabase } from '../../../testing/recording-database.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { testServer } from '../../../testing/test-server.ts';
import { insertAsset } from '../../assets/insert-asset.ts';
import { createRevisionFromBlobs } from '../../assets/revisions/add-revision.ts';
import { selectLoras } from './loras.ts';

const WEIGHTS = 'pytorch_lora_weights.safetensors';
const blob = { sha256: randomBytes(32).toString('hex'), sizeBytes: 7 };
const storeBlob = (db: Database) =>
  db.insertInto('blobs').values({ sha256: blob.sha256, size_bytes: 7n }).execute();

test('lists a model only while its newest files are a LoRA', async () => {
  const server = await testServer();
  const { db } = server.services;
  await storeBlob(db);
  const ada = await server.signUp('Ada');
  const insert = (datasetType: 'MODEL' | 'RAW', title: string) =>
    db.transaction().execute((tx) =>
      insertAsset(tx, {
        ...{ ownerUserId: ada.userId, datasetType, title },
        ...{ category: '', details: '', tags: [] },
      }),
    );
  const [assetId, datasetId] = [await insert('MODEL', 'Watercolour'), await insert('RAW', 'Pictures')];
  const listed = async () => {
    const { loras } = await server.request(listLoras, { params: { userId: ada.userId } }, { as: ada });
    return loras.map(({ title }) => title);
  };
  const put = (id: string, paths: string[]) =>
    db
      .transaction()
      .execute((tx) =>
        createRevisionFromBlobs(tx, { assetId: id, files: paths.map((path) => ({ path, ...blob })) }),
      );

  for (const [paths, isLora] of [
    [['README.md'], false],
    [['README.md', 'style.safetensors'], true],
    [['README.md', 'style.safetensors', 'samples/1.png'], true],
    [['style.safetensors', 'other.safetensors'], false],
    [['other.safetensors'], true],
    [['other.safetensors', 'config.json'], false],
    [['other.safetensors', 'config.json', WEIGHTS], true],
    [['config.json'], false],
  ] as const) {
    await put(assetId, [...paths]);
    expect(await listed(), paths.join()).toEqual(isLora ? ['Watercolour'] : []);
  }
  await put(datasetId, [WEIGHTS]);
  expect(await listed()).toEqual([]);
});

test('reads few rows if there are many models, and returns them in order', async () => {
  const { url } = await testDatabase();
  const recording = recordingDatabase(url);
  const { db } = recording;
  await sql`insert into users (id, name, username, email) values ('ada', 'Ada', 'ada', 'ada@example.com'), ('bob', 'Bob', 'bob', 'bob@example.com')`.execute(
    db,
  );
  await sql`
    insert into assets (owner_user_id, dataset_type, title, category, details, is_lora, is_published)
    select case when n % 3 = 0 then 'bob' else 'ada' end, 'MODEL', n, '', '', n % 100 = 0, n % 2 = 0
    from generate_series(1, 5000) n`.execute(db);
  await sql`analyze assets`.execute(db);
  const wanted = { userId: 'ada', search: '', after: undefined, limit: 3 };
  const [last] = await selectLoras(db, wanted);
  for (const after of [undefined, last?.id]) {
    const plans = await plansOf(recording, () => selectLoras(db, { ...wanted, after }));
    for (const index of ['assets_loras', 'assets_published_loras'])
      expect(plans).toEqual([expect.stringContaining(`Index Scan Backward using ${index}`)]);
    expect(plans[0]).not.toContain('Seq Scan on assets');
  }
});
