import { deleteAsset } from '@bakehouse/contract/assets';
import { saveRestrictedModel } from '@bakehouse/contract/restricted-models';
import { beforeAll, describe, expect, test } from 'vitest';
import { recordSource } from '../../modules/assets/sources/sources.ts';
import { assetCalls, sha256 } from '../../modules/assets/testing/asset-calls.ts';
import { insertModel } from '../../modules/deployments/testing/test-models.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { realPython } from '../../testing/real-python.ts';
import { signUpOperator } from '../../testing/sign-up-operator.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { hubCalls } from './testing/hub-calls.ts';

const server = await testServer({ config: realPython });
const { create, uploadAt } = assetCalls(server);
const { signUpAs, send, read, refusal, recorded } = hubCalls(server);

const CARD = '---\nlicense: mit\ntags: [bread]\npipeline_tag: text-generation\n---\n# Facts\n';

let ada: TestUser;
let bob: TestUser;
let id: string;
beforeAll(async () => {
  ada = await signUpAs('ada');
  bob = await signUpAs('bob');
  id = await create(ada, { title: 'Facts: über Brot!', tags: ['rye'] });
  await uploadAt(ada, id, 'README.md', CARD);
  await uploadAt(ada, id, 'data/train.csv', 'a,b\n1,2\n');
  await uploadAt(ada, id, 'data/deep/er/test.csv', 'a\n');
});

const files = async (path: string) =>
  (await read(path, { as: ada })).map((one: { type: string; path: string }) => `${one.type} ${one.path}`);

test('returns the caller and the role of their key', async () => {
  const me = await read('/api/whoami-v2', { as: ada });
  expect(me).toMatchObject({ type: 'user', name: 'ada', auth: { accessToken: { role: 'write' } } });
  expect(await refusal('/api/whoami-v2')).toMatchObject({ status: 401 });
});

test('tells callers without a key to send one, and does not reveal whether a repository exists', async () => {
  const needed = { status: 401, code: null, error: 'An API key is needed: set HF_TOKEN' };
  for (const path of ['/api/datasets', '/api/models?author=ada', '/api/whoami-v2'])
    expect(await refusal(path), path).toEqual(needed);
  for (const path of ['/api/datasets/ada/nothing', '/datasets/ada/nothing/resolve/main/a.csv'])
    expect(await refusal(path), path).toEqual({ ...needed, code: 'RepoNotFound' });
});

test("rejects unsupported calls of the public hub in the hub's error format", async () => {
  const path = '/api/datasets/ada/Facts-uber-Brot/super-squash/main';
  expect(await refusal(path, { as: ada, method: 'POST' })).toEqual({
    ...{ status: 404, code: null },
    error: `There is no POST /hub${path}`,
  });
  expect(await refusal('/api/spaces/ada/loaf/runtime')).toMatchObject({
    status: 404,
    error: 'There is no GET /hub/api/spaces/ada/loaf/runtime',
  });
  expect(await refusal('/api/whoami-v2', { as: ada, method: 'PUT' })).toMatchObject({
    status: 405,
    error: '/hub/api/whoami-v2 takes GET, HEAD, not PUT',
  });
});

test('derives a unique repository name from a title', async () => {
  expect(await read('/api/datasets', { as: ada })).toMatchObject([{ id: 'ada/Facts-uber-Brot' }]);
  await create(ada, { title: 'Facts: über Brot?' });
  await create(ada, { title: 'Facts über brot', dataset_type: 'MODEL' });
  await create(bob, { title: 'Facts: über Brot!' });
  const names = async (type: string) =>
    (await read(`/api/${type}?author=ada`, { as: ada })).map((one: { id: string }) => one.id).sort();
  expect(await names('datasets')).toEqual(['ada/Facts-uber-Brot', 'ada/Facts-uber-Brot-2']);
  expect(await names('models')).toEqual(['ada/Facts-uber-brot']);
});

test('only its owner finds a clone by the name that it has in the public hub', async () => {
  const { assetId } = await insertModel(server.services, ada, 'Loaf', { 'config.json': '{}' });
  const copied = {
    hubUrl: 'https://hub.example',
    repoId: 'ovens/Loaf-7B',
    commitId: 'c'.repeat(40),
  };
  await inTransaction(server.services.db, (tx) => recordSource(tx, assetId, copied));
  expect(await read('/api/models/ovens/Loaf-7B', { as: ada })).toMatchObject({ id: 'ada/Loaf' });
  expect((await send('/ovens/Loaf-7B/resolve/main/config.json', { as: ada })).status).toBe(200);
  expect(await refusal('/api/models/ovens/Loaf-7B', { as: bob })).toMatchObject({ code: 'RepoNotFound' });
  expect(await refusal('/api/datasets/ovens/Loaf-7B', { as: ada })).toMatchObject({ code: 'RepoNotFound' });
  await server.request(deleteAsset, { params: { id: assetId } }, { as: ada });
});

test('a user named like a publisher neither hides an own clone nor reveals that it exists', async () => {
  const { assetId } = await insertModel(server.services, ada, 'Rye-7B', { 'config.json': '{}' });
  const copied = {
    hubUrl: 'https://hub.example',
    repoId: 'millers/Rye-7B',
    commitId: 'd'.repeat(40),
  };
  await inTransaction(server.services.db, (tx) => recordSource(tx, assetId, copied));
  const stranger = await signUpAs('millers');
  const fake = await insertModel(server.services, stranger, 'Rye-7B', { 'config.json': '{"fake":1}' });
  const path = '/api/models/millers/Rye-7B';
  expect(await read(path, { as: ada })).toMatchObject({ id: 'ada/Rye-7B' });
  await read(`${path}/settings`, { as: stranger, method: 'PUT', body: { private: false } });
  expect(await read(path, { as: ada })).toMatchObject({ id: 'ada/Rye-7B' });
  expect(await read(path, { as: bob })).toMatchObject({ id: 'millers/Rye-7B' });
  expect(await read(`/api/models/id/${fake.assetId}`, { as: ada })).toMatchObject({ id: 'millers/Rye-7B' });
  await server.request(deleteAsset, { params: { id: fake.assetId } }, { as: stranger });
  await server.request(deleteAsset, { params: { id: assetId } }, { as: ada });
});

describe('lists', () => {
  test('are filtered by words, owners and tags, and paged', async () => {
    const list = async (query: string) =>
      (await read(`/api/datasets?${query}`, { as: ada })).map((one: { id: string }) => one.id);
    expect(await list('search=brot&filter=rye')).toEqual(['ada/Facts-uber-Brot']);
    expect(await list('author=bob')).toEqual([]);
    expect(await list('filter=rye&filter=wheat')).toEqual([]);
    expect(await list('filter=rye&full=True&expand=tags&expand=author')).toHaveLength(1);
    expect(await refusal('/api/models?gated=true&num_parameters=min:1', { as: ada })).toMatchObject({
      status: 400,
      error: 'Unknown fields: gated, num_parameters',
    });
    const first = await send('/api/datasets?limit=1', { as: ada });
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await fetch(next, { headers: { authorization: `Bearer ${ada.apiKey}` } });
    const pages = [await first.json(), await second.json()] as { id: string }[][];
    expect(pages.flat().map((one) => one.id)).toHaveLength(2);
    expect(second.headers.get('link')).toBeNull();
  });
});

test('lists are filtered by the newest card, and show tags, task and library from it', async () => {
  const list = (query: string) => read(`/api/models?author=ada${query}`, { as: ada });
  const names = async (query: string) => (await list(query)).map((one: { id: string }) => one.id);
  const model = await create(ada, { title: 'Carded', tags: ['rye'], dataset_type: 'MODEL' });
  const card = (task: string) =>
    `---\nlicense: mit\ntags: [mytag, text-to-image]\npipeline_tag: ${task}\nlibrary_name: peft\nbase_model: a/b\n---\n`;
  await uploadAt(ada, model, 'README.md', card('text-generation'));
  const found = { pipeline_tag: 'text-generation', library_name: 'peft' };
  expect(await list('&filter=rye&filter=mytag&filter=license:mit')).toMatchObject([found]);
  expect((await list('&filter=base_model:a/b'))[0].tags).toEqual([
    ...['rye', 'mytag', 'text-to-image', 'text-generation', 'peft', 'license:mit', 'base_model:a/b'],
  ]);
  expect(await names('&filter=peft&pipeline_tag=text-generation')).toEqual(['ada/Carded']);
  expect(await names('&filter=license:apache-2.0')).toEqual([]);
  // The card has this tag, but another task.
  expect(await names('&pipeline_tag=text-to-image')).toEqual([]);
  await uploadAt(ada, model, 'README.md', card('text-to-image'));
  expect(await names('&pipeline_tag=text-to-image')).toEqual(['ada/Carded']);
  await server.request(deleteAsset, { params: { id: model } }, { as: ada });
});

describe('a repository', () => {
  test('is returned with its files, newest commit and card metadata', async () => {
    const info = await read('/api/datasets/ada/facts-uber-brot?blobs=true', { as: ada });
    expect(info).toMatchObject({
      id: 'ada/Facts-uber-Brot',
      author: 'ada',
      private: true,
      gated: false,
      tags: ['rye', 'bread', 'text-generation', 'license:mit'],
      cardData: { license: 'mit', tags: ['bread'] },
    });
    expect(info.sha).toMatch(/^[0-9a-f]{40}$/);
    expect(info.siblings.map((one: { rfilename: string }) => one.rfilename)).toEqual([
      'README.md',
      'data/deep/er/test.csv',
      'data/train.csv',
    ]);
    expect(info.siblings[2].lfs.sha256).toBe(sha256('a,b\n1,2\n'));
  });

  test('is also found by the id of its asset', async () => {
    expect(await read(`/api/datasets/id/${id}`, { as: ada })).toMatchObject({ id: 'ada/Facts-uber-Brot' });
    expect(await refusal(`/api/models/id/${id}`, { as: ada })).toMatchObject({ code: 'RepoNotFound' });
  });

  test('is missing for other users, and for callers without a key', async () => {
    const missing = { status: 404, code: 'RepoNotFound' };
    expect(await refusal('/api/datasets/ada/Facts-uber-Brot', { as: bob })).toMatchObject(missing);
    expect(await refusal('/datasets/ada/Facts-uber-Brot/resolve/main/README.md', { as: bob })).toMatchObject(
      missing,
    );
    expect(await refusal('/api/datasets/ada/Facts-uber-Brot')).toMatchObject({
      status: 401,
      code: 'RepoNotFound',
    });
  });

  test('restricted by an operator responds with the reason', async () => {
    const olga = await signUpOperator(server, 'Olga');
    const { assetId } = await insertModel(server.services, olga, 'Closed', { 'config.json': '{}' });
    const model = { name: 'Closed', asset_id: assetId };
    await server.request(
      saveRestrictedModel,
      { params: { modelId: 'ovens/closed' }, body: model },
      { as: olga },
    );
    const { author } = await read('/api/models/ovens/closed', { as: olga });
    for (const name of ['ovens/closed', `${author}/Closed`]) {
      expect(await refusal(`/${name}/resolve/main/config.json`, { as: bob })).toMatchObject({
        status: 403,
        code: 'GatedRepo',
      });
    }
    expect((await send('/ovens/closed/resolve/main/config.json', { as: olga })).status).toBe(200);
  });
});

describe('the files of a revision', () => {
  const tree = '/api/datasets/ada/Facts-uber-Brot/tree/main';

  test('are listed by folder, or recursively with their folders', async () => {
    expect(await files(tree)).toEqual(['file README.md', 'directory data']);
    expect(await files(`${tree}/data`)).toEqual(['directory data/deep', 'file data/train.csv']);
    const all = [
      'file README.md',
      'directory data',
      'directory data/deep',
      'directory data/deep/er',
      'file data/deep/er/test.csv',
      'file data/train.csv',
    ];
    expect(await files(`${tree}?recursive=true`)).toEqual(all);
    expect(await files(`${tree}/data?recursive=True`)).toEqual(all.slice(2));
  });

  test('are paged, with each folder once', async () => {
    const found: string[] = [];
    for (let url = `${tree}?recursive=true&limit=1`; url !== ''; ) {
      const page = await send(url, { as: ada });
      found.push(...((await page.json()) as { path: string }[]).map((one) => one.path));
      const next = /<([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
      url = next.slice(next === '' ? 0 : `${server.url}/hub`.length);
    }
    expect(found).toEqual([
      'README.md',
      'data',
      'data/deep',
      'data/deep/er',
      'data/deep/er/test.csv',
      'data/train.csv',
    ]);
  });

  test('include the commit that last changed them', async () => {
    const [readme] = await read(`${tree}?expand=true`, { as: ada });
    expect(readme.lastCommit).toMatchObject({ title: 'Upload README.md' });
    const commits = await read('/api/datasets/ada/Facts-uber-Brot/commits/main', { as: ada });
    expect(commits.map((one: { title: string }) => one.title)).toEqual([
      'Upload data/deep/er/test.csv',
      'Upload data/train.csv',
      'Upload README.md',
      'Create the repository',
    ]);
    expect(commits[0].parents).toEqual([commits[1].id]);
    expect(await files(tree.replace('main', commits[2].id))).toEqual(['file README.md']);
    expect(await files(tree.replace('main', commits[3].id))).toEqual([]);
  });

  test('are returned by path, for a form or JSON', async () => {
    const url = '/api/datasets/ada/Facts-uber-Brot/paths-info/main';
    const form = await send(url, {
      as: ada,
      body: 'paths=data&paths=README.md&paths=nothing&expand=False',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(((await form.json()) as { path: string }[]).map((one) => one.path)).toEqual(['data', 'README.md']);
    expect(await read(url, { as: ada, body: { paths: ['data/train.csv'] } })).toHaveLength(1);
  });

  test('distinguish a missing file from a missing revision in their errors', async () => {
    const file = '/datasets/ada/Facts-uber-Brot/resolve';
    const entry = await send(`${file}/main/nothing.txt`, { as: ada });
    expect([entry.status, entry.headers.get('x-error-code')]).toEqual([404, 'EntryNotFound']);
    expect(entry.headers.get('x-repo-commit')).toMatch(/^[0-9a-f]{40}$/);
    expect(await refusal(`${file}/other/README.md`, { as: ada })).toMatchObject({ code: 'RevisionNotFound' });
    expect(await refusal(`${tree}/nothing`, { as: ada })).toMatchObject({ code: 'EntryNotFound' });
  });
});

test('returns a file, or a range of it, with its hash, size and commit', async () => {
  const url = '/datasets/ada/Facts-uber-Brot/resolve/main/data/train.csv';
  const head = await send(url, { as: ada, method: 'HEAD' });
  const hash = `"${sha256('a,b\n1,2\n')}"`;
  expect(Object.fromEntries(head.headers)).toMatchObject({
    etag: hash,
    'x-linked-etag': hash,
    'x-linked-size': '8',
    'content-length': '8',
    'accept-ranges': 'bytes',
  });
  const part = await send(url, { as: ada, headers: { range: 'bytes=4-6' } });
  expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
    206,
    '1,2',
    'bytes 4-6/8',
  ]);
});

describe('tags', () => {
  const tag = '/api/datasets/ada/Facts-uber-Brot/tag';

  test('name a revision that does not change', async () => {
    await read(`${tag}/main`, { as: ada, body: { tag: 'v1', message: 'First' } });
    await uploadAt(ada, id, 'late.txt', 'late');
    expect(await files('/api/datasets/ada/Facts-uber-Brot/tree/v1')).not.toContain('file late.txt');
    const refs = await read('/api/datasets/ada/Facts-uber-Brot/refs', { as: ada });
    expect(refs.tags).toMatchObject([{ name: 'v1', ref: 'refs/tags/v1' }]);
    expect(refs.branches).toMatchObject([{ name: 'main' }]);
    expect(await refusal(`${tag}/main`, { as: ada, body: { tag: 'v1' } })).toMatchObject({ status: 409 });
    expect((await send(`${tag}/v1`, { as: ada, method: 'DELETE' })).status).toBe(200);
    expect(await refusal(`${tag}/v1`, { as: ada, method: 'DELETE' })).toMatchObject({
      code: 'RevisionNotFound',
    });
    expect(await recorded(ada)).toEqual(expect.arrayContaining(['asset.tagged', 'asset.untagged']));
  });

  test('have valid names, and only the owner creates them', async () => {
    for (const name of ['main', '../x', 'a..b', 'x.lock'])
      expect(await refusal(`${tag}/main`, { as: ada, body: { tag: name } })).toMatchObject({ status: 400 });
    expect(await refusal(`${tag}/main`, { as: bob, body: { tag: 'v2' } })).toMatchObject({ status: 404 });
  });
});

test('finds files whose path is sent decomposed, although commits store paths composed', async () => {
  await read('/api/repos/create', { as: ada, body: { name: 'zoe', type: 'dataset' } });
  const [at, sent, stored] = ['/api/datasets/ada/zoe', 'Zoe\u0308/e\u0301.csv', 'Zo\u00eb/\u00e9.csv'];
  const commit = (...lines: object[]) =>
    send(`${at}/commit/main`, {
      as: ada,
      body: [{ key: 'header', value: { summary: 'Add' } }, ...lines]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
      headers: { 'content-type': 'application/x-ndjson' },
    });
  expect((await commit({ key: 'file', value: { path: sent, content: 'a\n1\n' } })).status).toBe(200);
  const resolved = await send(`/datasets/ada/zoe/resolve/main/${encodeURI(sent)}`, { as: ada });
  expect(await resolved.text()).toBe('a\n1\n');
  expect(await files(`${at}/tree/main/${encodeURI('Zoe\u0308')}`)).toEqual([`file ${stored}`]);
  const body = { paths: ['Zoe\u0308', sent, 'nothing\u0308'], expand: true };
  const described = await read(`${at}/paths-info/main`, { as: ada, body });
  expect(described).toMatchObject([{ path: 'Zo\u00eb' }, { path: stored, lastCommit: { title: 'Add' } }]);
  const copy = { path: 'copy.csv', srcPath: sent, srcRevision: 'main' };
  expect((await commit({ key: 'copyFile', value: copy })).status).toBe(200);
  const [{ id: assetId }] = (await server.services.db
    .selectFrom('assets')
    .select('id')
    .where('title', '=', 'zoe')
    .execute()) as [{ id: string }];
  const headers = { 'x-api-key': ada.apiKey };
  const preview = await fetch(
    `${server.url}/api/v1/asset/${assetId}/preview?path=${encodeURIComponent(sent)}`,
    { headers },
  );
  expect(await preview.json()).toMatchObject({ rows: [['1']] });
});
