import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { linkFile } from '@bakehouse/contract/file-links';
import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { addDownloads, countDownload } from '../../modules/assets/downloads/count-download.ts';
import { assetCalls } from '../../modules/assets/testing/asset-calls.ts';
import { importFolder } from '../../modules/models/import/import-folder.ts';
import { testServer } from '../../testing/test-server.ts';
import { hubCalls } from './testing/hub-calls.ts';

const server = await testServer();
const { send, read, signUpAs } = hubCalls(server);
const { contextOf, create, download, get, uploadAt } = assetCalls(server);
const [ada, bob] = [await signUpAs('ada'), await signUpAs('bob')];

test('counts one download per hour and user, shows the number in the hub and the app, and sorts by it', async () => {
  const folder = path.join(server.services.config.dataDir, 'imports/Crumbs');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'a.csv'), 'a\n1\n');
  await writeFile(path.join(folder, 'b.csv'), 'b\n1\n');
  const { assetId } = await importFolder(server.services, { folder, title: 'Crumbs', userId: null });
  const own = await create(ada, { title: 'Own' });
  await uploadAt(ada, own, 'c.csv', 'c\n1\n');
  const unread = await create(ada, { title: 'Unread' });
  const file = '/datasets/bakehouse/crumbs/resolve/main';

  // A HEAD request does not count as a download.
  await send(`${file}/a.csv`, { as: ada, method: 'HEAD' });
  for (const name of ['a.csv', 'b.csv', 'a.csv'])
    expect((await send(`${file}/${name}`, { as: ada })).status).toBe(200);
  await download(bob, assetId, 'a.csv');
  await server.request(linkFile, { params: { id: own }, query: { path: 'c.csv' } }, { as: ada });
  await vi.waitFor(async () => {
    expect(await get(ada, assetId)).toMatchObject({ downloads: 2 });
    expect(await get(ada, own)).toMatchObject({ downloads: 1 });
  });
  expect(await get(ada, unread)).toMatchObject({ downloads: 0 });
  expect(await read('/api/datasets/bakehouse/crumbs', { as: bob })).toMatchObject({ downloads: 2 });

  const names: string[] = [];
  for (let url = '/api/datasets?sort=downloads&direction=-1&limit=1'; url !== ''; ) {
    const page = await send(url, { as: ada });
    names.push(
      ...((await page.json()) as { id: string; downloads: number }[]).map(
        (one) => `${one.id} ${one.downloads}`,
      ),
    );
    const next = /<([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
    url = next.slice(next === '' ? 0 : `${server.url}/hub`.length);
  }
  expect(names).toEqual(['bakehouse/crumbs 2', 'ada/Own 1', 'ada/Unread 0']);

  const later = { ...contextOf(bob), clock: { now: () => new Date(Date.now() + 3_600_000) } };
  countDownload(later, assetId);
  countDownload(later, assetId);
  countDownload(later, crypto.randomUUID());
  await vi.waitFor(async () => expect(await get(ada, assetId)).toMatchObject({ downloads: 3 }));
});

test('skips assets that are purged at the same time, and counts the other downloads of the batch', async () => {
  const { db } = server.services;
  const [kept, purged] = [await create(ada, { title: 'Kept' }), await create(ada, { title: 'Purged' })];
  const purge = await db.startTransaction().execute();
  await purge.deleteFrom('assets').where('id', '=', purged).execute();
  const added = addDownloads(
    db,
    [kept, purged].map((id) => [id, 1]),
  );
  await vi.waitFor(async () => {
    const { rows } = await sql`select from pg_stat_activity
      where wait_event_type = 'Lock' and query like '%insert into asset_downloads%' and datname = current_database()`.execute(
      db,
    );
    expect(rows).toHaveLength(1);
  });
  await purge.commit().execute();
  await added;
  const rows = await db
    .selectFrom('asset_downloads')
    .selectAll()
    .where('asset_id', 'in', [kept, purged])
    .execute();
  expect(rows).toMatchObject([{ asset_id: kept }]);
});
