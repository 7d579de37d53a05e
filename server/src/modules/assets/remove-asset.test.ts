import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import * as contract from '@bakehouse/contract/assets';
import { beforeAll, expect, test, vi } from 'vitest';
import { storeBlob } from '../../platform/storage/store-blob.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { collectBlobsJob } from './jobs/collect-blobs.ts';
import { recordLineage } from './lineage.ts';
import { assetCalls, refusalOf } from './testing/asset-calls.ts';

const clock = fakeClock();
const server = await testServer({ clock });
const { create, upload, storedFiles } = assetCalls(server);

let ada: TestUser;
let bob: TestUser;
beforeAll(async () => {
  [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
});

test('does not delete a model while others are based on it', async () => {
  const base = await create(ada, { dataset_type: 'MODEL', title: 'A base' });
  const source = (assetId: string) => ({ assetId, revisionId: assetId, title: 'Kept' });
  const tuned: string[] = [];
  for (const title of ['Tuned one', 'Tuned two', 'Tuned three', 'Tuned four', 'Tuned five']) {
    const assetId = await create(ada, { dataset_type: 'MODEL', title });
    const lineage = { assetId, runId: assetId, base: source(base), dataset: source(assetId) };
    await server.services.db.transaction().execute((tx) => recordLineage(tx, lineage));
    tuned.push(assetId);
  }
  const remove = async (id: string) => server.send(contract.deleteAsset, { params: { id } }, { as: ada });
  expect(await refusalOf(await remove(base))).toEqual({
    status: 409,
    code: 'conflict',
    message:
      "'Tuned one', 'Tuned two', 'Tuned three' and 2 more cannot work without it. " +
      'Delete these models first.',
  });
  for (const id of tuned.slice(1)) expect((await remove(id)).status).toBe(204);
  expect((await refusalOf(await remove(base))).message).toBe(
    "'Tuned one' cannot work without it. Delete that model first.",
  );
  expect((await remove(tuned[0] ?? '')).status).toBe(204);
  expect((await remove(base)).status).toBe(204);
});

test('deletes a model if only complete models are based on it', async () => {
  const base = await create(ada, { dataset_type: 'MODEL', title: 'Left behind' });
  const source = { assetId: base, revisionId: base, title: 'Left behind' };
  const [mine, bobs] = [
    await create(ada, { dataset_type: 'MODEL', title: 'Full one' }),
    await create(bob, { dataset_type: 'MODEL', title: 'Full one of Bob' }),
  ];
  await server.request(
    contract.updateAsset,
    { params: { id: base }, body: { is_published: true } },
    { as: ada },
  );
  for (const assetId of [mine, bobs]) {
    const lineage = { assetId, runId: assetId, base: source, dataset: source };
    await server.services.db.transaction().execute((tx) => recordLineage(tx, lineage));
  }
  const remove = async () => server.send(contract.deleteAsset, { params: { id: base } }, { as: ada });
  await upload(bob, bobs, 'config.json', '{}');
  // Without files, the model does not count as complete: its run has not created it yet.
  expect((await refusalOf(await remove())).message).toContain("'Full one' cannot work without it");
  await upload(ada, mine, 'config.json', '{}');
  expect((await remove()).status).toBe(204);
  const { lineage } = await server.request(contract.getAsset, { params: { id: mine } }, { as: ada });
  expect(lineage).toMatchObject({ base_model: { title: 'Left behind' } });
});

test("does not delete a model while its owner's adapter is based on it", async () => {
  const base = await create(ada, { dataset_type: 'MODEL', title: 'Stood upon' });
  const [adapter, whole, bobs] = [
    await create(ada, { dataset_type: 'MODEL', title: 'Own adapter', parent_dataset_id: base }),
    await create(ada, { dataset_type: 'MODEL', title: 'Whole', parent_dataset_id: base }),
    await create(bob, { dataset_type: 'MODEL', title: 'Of Bob' }),
  ];
  await upload(ada, adapter, 'adapter_config.json', '{"r":8}');
  await upload(ada, whole, 'config.json', '{}');
  await upload(bob, bobs, 'adapter_config.json', '{"r":8}');
  await server.services.db
    .updateTable('assets')
    .set({ parent_asset_id: base })
    .where('id', '=', bobs)
    .execute();
  const remove = async (id: string) => server.send(contract.deleteAsset, { params: { id } }, { as: ada });
  expect((await refusalOf(await remove(base))).message).toBe(
    "'Own adapter' cannot work without it. Delete that model first.",
  );
  expect((await remove(adapter)).status).toBe(204);
  expect((await remove(base)).status).toBe(204);
});

test('completes a deletion whose rows cannot be purged immediately, and lets the job purge them', async () => {
  const { db, pool } = server.services;
  const id = await create(ada);
  const rows = () => db.selectFrom('assets').select('deleted_at').where('id', '=', id).execute();
  await pool.query(`
    create function refuse_purge() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
    create trigger refuse_purge before delete on revisions execute function refuse_purge()`);
  try {
    const deleted = await server.send(contract.deleteAsset, { params: { id } }, { as: ada });
    expect(deleted.status).toBe(204);
    expect(await rows()).toEqual([{ deleted_at: expect.any(Date) }]);
  } finally {
    await pool.query('drop function refuse_purge cascade');
  }
  await collectBlobsJob.run(server.services, {}, AbortSignal.timeout(10_000));
  expect(await rows()).toEqual([]);
});

test('deletes other bytes if some cannot be deleted', async ({ onTestFinished }) => {
  const { blobs } = server.services;
  const stored = await Promise.all(
    [1, 2].map(() => storeBlob(server.services, Readable.from([randomBytes(20)]))),
  );
  const [stuck = '', other = ''] = stored.map((blob) => blob.sha256);
  const remove = blobs.delete;
  const failing = vi.spyOn(blobs, 'delete').mockImplementation(async (hash) => {
    if (hash === stuck) throw new Error('EACCES');
    return remove(hash);
  });
  onTestFinished(() => failing.mockRestore());
  clock.advance({ hours: 2 });
  await collectBlobsJob.run(server.services, {}, AbortSignal.timeout(10_000));
  expect(await storedFiles()).toContain(stuck.slice(2));
  expect(await storedFiles()).not.toContain(other.slice(2));
  failing.mockRestore();
  await collectBlobsJob.run(server.services, {}, AbortSignal.timeout(10_000));
  expect(await storedFiles()).not.toContain(stuck.slice(2));
});
