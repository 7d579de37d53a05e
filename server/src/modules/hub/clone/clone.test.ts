import { getAsset } from '@bakehouse/contract/assets';
import { cancelClone, cloneStatus, listClones, retryClone } from '@bakehouse/contract/hub/clones';
import { listNotifications } from '@bakehouse/contract/notifications';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { TestServer, TestUser } from '../../../testing/test-server.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';
import { auditedActions, cloneCalls, cloningServer, safetensors } from '../testing/clones.ts';
import { commitOf, type HubRepo, openPublicHub, type PublicHub } from '../testing/public-hub.ts';

const rye: HubRepo = {
  type: 'model',
  id: 'bakery/rye-7b',
  files: {
    'README.md': '# Rye\nIt rises.',
    'config.json': JSON.stringify({ model_type: 'qwen2' }),
    'tokenizer.json': '{}',
    'empty.txt': '',
    'folder/zürich %1.json': '{"a": 1}',
    'model.safetensors': safetensors(50_000),
    'pytorch_model.bin': Buffer.alloc(2_000, 1),
  },
};
const loaves: HubRepo = {
  type: 'dataset',
  id: 'bakery/loaves',
  files: Object.fromEntries(
    Array.from({ length: 45 }, (_, at) => [`data/${at}.csv`, `a,b\n${at},${'x'.repeat(at * 40)}\n`]),
  ),
};

/** Flushing many files takes long on a busy machine. */
vi.setConfig({ testTimeout: 120_000 });

let hub: PublicHub;
let server: TestServer;
let ada: TestUser;
let bob: TestUser;
let calls: ReturnType<typeof cloneCalls>;
beforeAll(async () => {
  hub = await openPublicHub([rye, loaves]);
  server = await cloningServer(hub);
  calls = cloneCalls(server);
  [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
});

const get = (user: TestUser, id: string) => server.request(getAsset, { params: { id } }, { as: user });
const newestNotification = async (user: TestUser) =>
  (await server.request(listNotifications, { params: { userId: user.userId }, query: {} }, { as: user }))[0];

test('clones a model with its files, card, family, source and revision, without pickles', async () => {
  const started = await calls.start(ada, 'bakery/rye-7b');
  expect(started).toMatchObject({ status: 'QUEUED', revision: commitOf(rye), progress: 0, asset_id: null });
  const done = await calls.untilEnded(ada, started.id);
  expect(done).toMatchObject({ status: 'COMPLETED', progress: 100, files_total: 6, files_done: 6 });
  const asset = await get(ada, done.asset_id ?? '');
  expect(asset).toMatchObject({
    ...{ dataset_type: 'MODEL', title: 'rye-7b', family: 'qwen', card: '# Rye\nIt rises.', file_count: 6 },
    source: { hub_url: hub.url, repo_id: 'bakery/rye-7b', revision: commitOf(rye) },
  });
  expect(asset.files.map(({ path, size_bytes }) => [path, size_bytes])).toEqual(
    Object.entries(rye.files)
      .filter(([path]) => path !== 'pytorch_model.bin')
      .map(([path, content]) => [path, Buffer.byteLength(content)])
      .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
  const { download } = assetCalls(server);
  const bytes = await (await download(ada, asset.dataset_id, 'model.safetensors')).arrayBuffer();
  expect(Buffer.from(bytes)).toEqual(rye.files['model.safetensors']);
  const log = await calls.logs(ada, started.id);
  expect(log[0]).toMatch(/^bakery\/rye-7b at [0-9a-f]{8}: 6 files, \d+\.\d\d KB$/);
  expect(log).toContain('Skipped, because the same weights exist as safetensors: pytorch_model.bin');
  expect(log.at(-1)).toBe('Done: rye-7b');
  expect(await newestNotification(ada)).toMatchObject({
    kind: 'clone_completed',
    message: 'rye-7b has been cloned',
    link: `/model/${asset.dataset_id}/description`,
  });
  // The token is not sent with requests to other hosts.
  expect(hub.requests.filter(({ file }) => file === 'pytorch_model.bin')).toEqual([]);
  expect(await auditedActions(server, ada, 'clone.%')).toEqual(['clone.started']);
  const kept = await server.services.db.selectFrom('hub_clone_files').selectAll().execute();
  expect(kept).toEqual([]);
});

test('clones a dataset whose file list has several pages, and does not fetch files that the user already stores', async () => {
  const done = await calls.clone(ada, 'bakery/loaves', 'RAW');
  expect(done).toMatchObject({ status: 'COMPLETED', files_total: 45 });
  expect(await get(ada, done.asset_id ?? '')).toMatchObject({
    dataset_type: 'RAW',
    file_count: 45,
    family: '',
  });
  const large = Object.entries(loaves.files).filter(([, content]) => content.length >= 1024);
  hub.requests = [];
  const again = await calls.clone(ada, 'bakery/loaves', 'RAW');
  expect(again).toMatchObject({ status: 'COMPLETED', files_done: 45 });
  expect(again.asset_id).not.toBe(done.asset_id);
  const asked = new Set(hub.requests.map(({ file }) => file));
  expect(large.filter(([path]) => asked.has(path))).toEqual([]);
});

test('clones the commit of the start although the hub changes', async () => {
  const before = { ...rye, id: 'bakery/moving', files: { ...rye.files } };
  hub.repos.push(before);
  const started = await calls.start(ada, 'bakery/moving');
  const done = await calls.untilEnded(ada, started.id);
  expect(done.revision).toBe(commitOf(before));
  before.files = { ...before.files, 'README.md': '# Newer' };
  const newer = await calls.clone(ada, 'bakery/moving');
  expect(newer.revision).not.toBe(done.revision);
  expect((await get(ada, newer.asset_id ?? '')).card).toBe('# Newer');
});

describe('clones of a user', () => {
  test('are listed newest first by page, only for their owner', async () => {
    const list = (user: TestUser, query: object = {}) =>
      server.request(listClones, { params: { userId: user.userId }, query }, { as: user });
    const all = await list(ada);
    expect(all.clones.length).toBeGreaterThan(3);
    const first = await list(ada, { limit: 2 });
    const second = await list(ada, { limit: 2, cursor: first.next_cursor });
    expect([...first.clones, ...second.clones]).toEqual(all.clones.slice(0, 4));
    expect(await list(bob)).toEqual({ clones: [], next_cursor: null });
    const [{ id } = { id: '' }] = all.clones;
    for (const endpoint of [cloneStatus, cancelClone, retryClone])
      await expect(server.request(endpoint, { params: { id } }, { as: bob })).rejects.toMatchObject({
        status: 404,
        message: expect.stringContaining('No clone has this id'),
      });
    await expect(list(bob, { cursor: id })).rejects.toMatchObject({ status: 400 });
  });

  test('of the same repository are joined while the clone runs; a completed clone cannot be retried', async () => {
    let release = () => {};
    const held = new Promise<void>((done) => (release = done));
    hub.repos.push({ ...rye, id: 'bakery/slow' });
    hub.instead = (_request, response, file) => {
      if (file !== 'model.safetensors') return undefined;
      void held.then(() => response.destroy());
      return true;
    };
    const eve = await server.signUp('Eve');
    const first = await calls.start(eve, 'bakery/slow');
    expect((await calls.start(eve, 'bakery/slow')).id).toBe(first.id);
    hub.instead = null;
    release();
    expect(await calls.untilEnded(eve, first.id)).toMatchObject({ status: 'COMPLETED' });
    const params = { params: { id: first.id } };
    await expect(server.request(retryClone, params, { as: eve })).rejects.toMatchObject({ status: 409 });
    expect(await server.request(cancelClone, params, { as: eve })).toMatchObject({ status: 'COMPLETED' });
  });

  test('are cancelled midway without leftovers, and can start again', async () => {
    const max = await server.signUp('Max');
    hub.repos.push({ ...rye, id: 'bakery/endless' });
    let reached = () => {};
    const asked = new Promise<void>((done) => (reached = done));
    hub.instead = (_request, response, file) => {
      if (file !== 'model.safetensors') return undefined;
      response.writeHead(200, { 'content-length': Buffer.byteLength(rye.files['model.safetensors'] ?? '') });
      response.write('beginning');
      reached();
      return true;
    };
    const { id } = await calls.start(max, 'bakery/endless');
    await asked;
    const cancelled = await server.request(cancelClone, { params: { id } }, { as: max });
    expect(cancelled).toMatchObject({ status: 'CANCELLED', reason: 'Cancelled', asset_id: null });
    const mine = () =>
      server.services.db.selectFrom('uploads').select('id').where('user_id', '=', max.userId).execute();
    expect(await mine()).toEqual([]);
    hub.instead = null;
    expect(await server.request(retryClone, { params: { id } }, { as: max })).toMatchObject({
      status: 'QUEUED',
    });
    const done = await calls.untilEnded(max, id);
    expect(done).toMatchObject({ status: 'COMPLETED', files_done: 6 });
    expect(await assetCalls(server).get(max, done.asset_id ?? '')).toMatchObject({ file_count: 6 });
    expect(await mine()).toEqual([]);
  });
});
