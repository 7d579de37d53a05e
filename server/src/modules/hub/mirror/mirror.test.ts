import { listAssets } from '@bakehouse/contract/assets';
import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { testServer } from '../../../testing/test-server.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';
import { removeImport } from '../../models/import/remove-import.ts';
import { toRow } from '../clone/clones-table.ts';
import { createCloneLoop } from '../clone/create-clone-loop.ts';
import { cloningServer, quickPace, safetensors } from '../testing/clones.ts';
import { hubCalls } from '../testing/hub-calls.ts';
import { commitOf, type HubRepo, openPublicHub } from '../testing/public-hub.ts';
import { BeingMirrored } from './being-mirrored.ts';

const GB = 1024 ** 3;

const rye: HubRepo = {
  type: 'model',
  id: 'ovens/Rye-1B',
  files: {
    'README.md': '---\nlicense: mit\n---\n# Rye\n',
    'config.json': '{"model_type":"llama"}',
    'model.safetensors': safetensors(40_000),
    'nested/tokenizer.json': '{}',
  },
};
const repos: HubRepo[] = [
  rye,
  { type: 'dataset', id: 'ovens/Rye-1B', files: { 'rows.csv': 'a,b\n1,2\n' } },
  { type: 'model', id: 'ovens/closed', files: { 'config.json': '{}' }, gatedFor: ['someone'] },
  { type: 'model', id: 'ovens/pickled', files: { 'pytorch_model.bin': 'x' } },
  { type: 'model', id: 'ovens/large', files: { 'model.safetensors': safetensors(300_000) } },
  { type: 'model', id: 'bob/rolls', files: { 'config.json': '{}' } },
];
const hub = await openPublicHub(repos);
const server = await cloningServer(hub);
const { read, refusal, send, signUpAs } = hubCalls(server);
const [ada, bob] = [await signUpAs('ada'), await signUpAs('bob')];
const { db, config } = server.services;

const mirror = (bytesMax = 250_000) => {
  config.hubMirror = { bytesMax, token: null };
};

/** What everybody has in a namespace of the public hub. */
const mirrored = () =>
  db
    .selectFrom('assets')
    .select(['id', 'namespace', 'name', 'starter_slug', 'starter_task', 'owner_user_id', 'family'])
    .where('namespace', 'is not', null)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .execute();

const cloneCount = async () =>
  (await db.selectFrom('hub_clones').select('id').where('user_id', 'is', null).execute()).length;

test('nothing is copied unless the operator lets it', async () => {
  expect(config.hubMirror).toBeNull();
  expect(await refusal('/api/models/ovens/Rye-1B', { as: ada })).toMatchObject({
    status: 404,
    code: 'RepoNotFound',
  });
  expect(await cloneCount()).toBe(0);
});

test('what is not here is copied once however many ask, is everybody’s under its name, and is here without the hub', async () => {
  mirror();
  hub.requests.length = 0;
  const asked = await Promise.all([
    read('/api/models/ovens/Rye-1B', { as: ada }),
    read('/api/models/ovens/Rye-1B/revision/main?blobs=true', { as: bob }),
    send('/ovens/Rye-1B/resolve/main/config.json', { as: bob }).then((answer) => answer.text()),
  ]);
  const sha = commitOf(rye);
  expect(asked[0]).toMatchObject({ id: 'ovens/Rye-1B', author: 'ovens', sha, private: false, gated: false });
  expect(asked[1]).toMatchObject({ id: 'ovens/Rye-1B', sha });
  expect(asked[2]).toBe(rye.files['config.json']);
  await vi.waitFor(async () => expect(await mirrored()).toHaveLength(1));
  expect(hub.requests.filter(({ file }) => file !== '').map(({ file }) => file)).toHaveLength(
    new Set(hub.requests.filter(({ file }) => file !== '').map(({ file }) => file)).size,
  );

  expect(await read('/api/datasets/ovens/Rye-1B/tree/main', { as: bob })).toMatchObject([
    { path: 'rows.csv', size: 8 },
  ]);
  expect(await mirrored()).toMatchObject([
    { starter_slug: 'ovens/Rye-1B', family: 'llama', starter_task: null, owner_user_id: null },
    { starter_slug: 'datasets/ovens/Rye-1B', family: '', starter_task: null },
  ]);
  // Nobody's room is taken.
  const stored = await db.selectFrom('user_storage').select('bytes').where('bytes', '>', 0n).execute();
  expect(stored).toEqual([]);
  const { datasets } = await server.request(
    listAssets,
    { query: { types: 'MODEL', owner: bob.userId, include_starter: 'true' } },
    { as: bob },
  );
  expect(datasets).toMatchObject([{ title: 'Rye-1B', is_starter: true, starter_task: null }]);

  const names = async (author: string) =>
    (await read(`/api/models?author=${author}`, { as: bob })).map(({ id }: { id: string }) => id);
  expect(await names('Ovens')).toEqual(['ovens/Rye-1B']);
  expect([await names('bakehouse'), await names('nobody')]).toEqual([[], []]);

  const there = config.hubUrl;
  config.hubUrl = 'http://127.0.0.1:1';
  const info = await read('/api/models/Ovens/rye-1b?blobs=true', { as: bob });
  expect(info).toMatchObject({ id: 'ovens/Rye-1B', sha, cardData: { license: 'mit' } });
  expect(info.siblings).toHaveLength(4);
  expect(await read(`/api/models/ovens/Rye-1B/tree/${sha}?recursive=true`, { as: ada })).toHaveLength(5);
  expect(
    await read('/api/models/ovens/Rye-1B/paths-info/main', { as: ada, body: { paths: ['nested'] } }),
  ).toMatchObject([{ type: 'directory' }]);
  const weights = await send(`/ovens/Rye-1B/resolve/${sha}/model.safetensors`, { as: ada });
  expect(weights.headers.get('x-repo-commit')).toBe(sha);
  expect(Buffer.from(await weights.arrayBuffer())).toEqual(rye.files['model.safetensors']);
  expect(await refusal('/ovens/Rye-1B/resolve/main/none', { as: ada })).toMatchObject({
    code: 'EntryNotFound',
  });
  expect(await refusal('/api/models/ovens/Rye-1B/revision/v2', { as: ada })).toMatchObject({
    code: 'RevisionNotFound',
  });
  config.hubUrl = there;
  const audited = await db
    .selectFrom('audit_log')
    .select(['user_id', 'detail'])
    .where('action', '=', 'clone.started')
    .execute();
  expect(audited.map(({ detail }) => detail)).toContainEqual({
    ...{ repo_id: 'ovens/Rye-1B', type: 'MODEL', for: 'everybody' },
  });
});

test('what may not be everybody’s is refused with the hub’s own codes, and so is what there is no room for', async () => {
  expect(await refusal('/api/models/ovens/closed', { as: ada })).toMatchObject({
    ...{ status: 403, code: 'GatedRepo' },
    error: expect.stringContaining('ovens/closed is gated on the public hub'),
  });
  const before = await cloneCount();
  expect(await refusal('/api/models/ovens/nowhere', { as: ada })).toEqual({
    ...{ status: 404, code: 'RepoNotFound', error: 'Repository not found' },
  });
  // A namespace of somebody here: what the hub has of that name is not theirs.
  expect(await refusal('/api/models/bob/rolls', { as: ada })).toMatchObject({ code: 'RepoNotFound' });
  expect(await refusal('/api/models/bakehouse/rolls', { as: ada })).toMatchObject({ code: 'RepoNotFound' });
  expect(await cloneCount()).toBe(before);

  for (const [name, reason] of [
    ['pickled', 'Its weights are Python pickles alone'],
    ['large', 'It needs 293.05 KB, and 204'],
  ] as const) {
    for (let again = 0; again < 2; again += 1)
      expect(await refusal(`/api/models/ovens/${name}`, { as: ada })).toMatchObject({
        ...{ status: 404, code: 'RepoNotFound' },
        error: expect.stringContaining(
          `Repository not found here, and could not be copied from the public hub: ${reason}`,
        ),
      });
  }
  // Each was tried once.
  expect(await cloneCount()).toBe(before + 2);
  expect(await mirrored()).toHaveLength(2);
});

test('while it is copied its list and each file that is here are answered, and a newer commit takes its place as a whole', async () => {
  const first = commitOf(rye);
  mirror(GB);
  rye.files = {
    ...rye.files,
    'config.json': '{"model_type":"qwen3"}',
    'model.safetensors': safetensors(50_000),
  };
  const second = commitOf(rye);
  const sha = async () => (await read('/api/models/ovens/Rye-1B', { as: ada })).sha;
  const clones = await cloneCount();
  // What was looked up within the hour is not looked up again.
  expect(await sha()).toBe(first);
  expect(await cloneCount()).toBe(clones);

  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = true;
  hub.instead = (request, response, file) => {
    if (!isHeld || file !== 'model.safetensors') return false;
    void released.then(() => {
      response.writeHead(503).end();
    });
    return true;
  };
  await sql`update asset_sources set looked_up_at = looked_up_at - interval '61 minutes'`.execute(db);
  expect(await sha()).toBe(first);
  await vi.waitFor(async () => expect(await cloneCount()).toBe(clones + 1));
  // Another that is not here yet, whose weights are held too.
  const slow: HubRepo = { ...rye, id: 'ovens/slow', files: { ...rye.files } };
  hub.repos.push(slow);
  const whole = send('/ovens/slow/resolve/main/model.safetensors', { as: bob });
  expect(await read('/api/models/ovens/slow?blobs=true', { as: ada })).toMatchObject({
    ...{ id: 'ovens/slow', sha: commitOf(slow) },
    siblings: [
      { rfilename: 'nested/tokenizer.json' },
      { rfilename: 'config.json' },
      { rfilename: 'README.md' },
      { rfilename: 'model.safetensors', lfs: { size: safetensors(50_000).length } },
    ],
  });
  const small = await send('/ovens/slow/resolve/main/config.json', { as: ada });
  expect([small.headers.get('x-repo-commit'), await small.text()]).toEqual([
    commitOf(slow),
    slow.files['config.json'],
  ]);
  expect(await refusal('/ovens/slow/resolve/main/none', { as: ada })).toMatchObject({
    code: 'EntryNotFound',
  });
  expect(await refusal('/api/models/ovens/slow/revision/v2', { as: ada })).toMatchObject({
    code: 'RevisionNotFound',
  });
  expect((await mirrored()).map(({ name }) => name)).not.toContain('slow');
  expect(await sha()).toBe(first);
  isHeld = false;
  release();
  expect(Buffer.from(await (await whole).arrayBuffer())).toEqual(slow.files['model.safetensors']);
  await vi.waitFor(async () => expect(await sha()).toBe(second));
  const old = await send(`/ovens/Rye-1B/resolve/${first}/config.json`, { as: ada });
  expect(await old.text()).toBe('{"model_type":"llama"}');
  expect((await mirrored())[0]).toMatchObject({ name: 'Rye-1B', family: 'qwen' });
});

test('an operator deletes it by its name, and the next call fetches it anew', async () => {
  const remove = (name: string) => removeImport(db, { name, findUses: [] });
  expect(await remove('datasets/ovens/Rye-1B')).toMatchObject({ title: 'Rye-1B', datasetType: 'RAW' });
  expect((await mirrored()).map(({ starter_slug }) => starter_slug)).not.toContain('datasets/ovens/Rye-1B');
  const clones = await cloneCount();
  expect(await read('/api/datasets/ovens/Rye-1B', { as: bob })).toMatchObject({ id: 'ovens/Rye-1B' });
  expect(await cloneCount()).toBe(clones + 1);
});

test('without the public hub what is not here is not found, and who calls is told why', async () => {
  config.hubUrl = 'http://127.0.0.1:1';
  for (let again = 0; again < 2; again += 1)
    expect(await refusal('/api/models/ovens/other', { as: ada })).toEqual({
      ...{ status: 404, code: 'RepoNotFound' },
      error:
        'Repository not found here, and could not be copied from the public hub: The public hub cannot be reached',
    });
});

test('who has to wait is told how long', () => {
  const clone = {
    ...{
      repo_id: 'ovens/slow',
      bytes_total: 10_000_000n,
      bytes_done: 4_000_000n,
      bytes_per_second: 100_000n,
    },
  };
  const waiting = new BeingMirrored(toRow(clone as never));
  expect([waiting.status, waiting.publicMessage, waiting.retryAfterMs]).toEqual([
    503,
    'ovens/slow is being copied from the public hub: 3.81 MB of 9.54 MB are here. Try again in 60 s',
    60_000,
  ]);
  expect(new BeingMirrored(toRow({ ...clone, bytes_total: null } as never)).retryAfterMs).toBe(2_000);
});

test('another server of ours is the public hub, which an operator’s token reads: what is private there stays there', async () => {
  const theirs = await testServer();
  const eve = await hubCalls(theirs).signUpAs('eve');
  const { create, uploadAt } = assetCalls(theirs);
  const id = await create(eve, { title: 'Facts', is_published: true });
  await uploadAt(eve, id, 'data/rows.csv', 'a,b\n1,2\n');
  await uploadAt(eve, await create(eve, { title: 'Secret' }), 'rows.csv', 'a\n1\n');
  const ours = await testServer({
    config: { hubUrl: `${theirs.url}/hub`, hubMirror: { bytesMax: GB, token: eve.apiKey } },
  });
  const loop = createCloneLoop(ours.services, quickPace);
  loop.start();
  onFileEnd(loop.stop);
  const max = await ours.signUp('Max');
  const calls = hubCalls(ours);
  const file = await calls.send('/datasets/eve/Facts/resolve/main/data/rows.csv', { as: max });
  expect(await file.text()).toBe('a,b\n1,2\n');
  const [here, there] = await Promise.all([
    calls.read('/api/datasets/eve/Facts', { as: max }),
    hubCalls(theirs).read('/api/datasets/eve/Facts', { as: eve }),
  ]);
  expect([here.sha, here.id]).toEqual([there.sha, 'eve/Facts']);
  expect(await calls.refusal('/api/datasets/eve/Secret', { as: max })).toMatchObject({
    ...{ status: 404, code: 'RepoNotFound' },
  });
  // What was renamed there is led to by its old name.
  const rolls = await create(eve, { title: 'Rolls', is_published: true });
  await uploadAt(eve, rolls, 'rows.csv', 'a\n1\n');
  const rename = { fromRepo: 'eve/Rolls', toRepo: 'eve/Buns', type: 'dataset' };
  await hubCalls(theirs).read('/api/repos/move', { as: eve, body: rename });
  expect(await calls.read('/api/datasets/eve/Rolls', { as: max })).toMatchObject({ id: 'eve/Buns' });
});
