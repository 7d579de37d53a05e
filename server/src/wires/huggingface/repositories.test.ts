import { createApiKey } from '@bakehouse/contract/api-keys';
import { beforeAll, describe, expect, test } from 'vitest';
import { recordSource } from '../../modules/assets/sources/sources.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { fileLine, header, hubCalls } from './testing/hub-calls.ts';

const server = await testServer();
const hub = hubCalls(server);
const { signUpAs, send, read, refusal, recorded } = hub;

let ada: TestUser;
let bob: TestUser;
beforeAll(async () => {
  ada = await signUpAs('ada');
  bob = await signUpAs('bob');
});

const create = (as: TestUser, body: object) => ({ as, body });

test('creates a repository once, and returns its URL on a second attempt', async () => {
  const made = await read('/api/repos/create', create(ada, { name: 'Loaf', type: 'dataset', private: true }));
  expect(made.url).toBe(`${server.url}/hub/datasets/ada/Loaf`);
  const again = await send(
    '/api/repos/create',
    create(ada, { name: 'loaf', type: 'dataset', organization: 'ada' }),
  );
  expect([again.status, await again.json()]).toMatchObject([
    409,
    { url: `${server.url}/hub/datasets/ada/loaf` },
  ]);
  expect((await send('/api/repos/create', create(ada, { name: 'Loaf' }))).status).toBe(200);
  expect(await read('/api/datasets/ada/Loaf', { as: ada })).toMatchObject({ private: true, siblings: [] });
});

test('rejects names that clients reject, and another user’s namespace', async () => {
  for (const name of ['..', 'a..b', 'a--b', '-a', 'a.git', 'a b', 'x'.repeat(97), 'a/b/c', 'über'])
    expect(await refusal('/api/repos/create', create(ada, { name })), name).toMatchObject({ status: 400 });
  expect(await refusal('/api/repos/create', create(ada, { name: 'bob/loaf' }))).toMatchObject({
    status: 403,
  });
  expect(await refusal('/api/repos/create', create(ada, { name: 'x', organization: 'api' }))).toMatchObject({
    status: 403,
  });
  expect(await refusal('/api/repos/create', create(ada, { name: 'x', type: 'space' }))).toMatchObject({
    status: 400,
    error: 'Repositories here are models and datasets',
  });
});

test('only its owner renames, publishes and deletes a repository', async () => {
  await read('/api/repos/create', create(ada, { name: 'dough', type: 'dataset' }));
  await read('/api/repos/create', create(ada, { name: 'taken', type: 'dataset' }));
  const move = (as: TestUser, fromRepo: string, toRepo: string) => ({
    as,
    body: { fromRepo, toRepo, type: 'dataset' },
  });
  expect(await refusal('/api/repos/move', move(ada, 'ada/dough', 'bob/dough'))).toMatchObject({
    status: 403,
  });
  expect(await refusal('/api/repos/move', move(bob, 'ada/dough', 'bob/dough'))).toMatchObject({
    status: 403,
  });
  expect(await refusal('/api/repos/move', move(ada, 'ada/dough', 'ada/Taken'))).toMatchObject({
    status: 409,
  });
  await read('/api/repos/move', move(ada, 'ada/dough', 'ada/Bread'));

  const settings = '/api/datasets/ada/Bread/settings';
  await read(settings, { as: ada, method: 'PUT', body: { visibility: 'public' } });
  expect(await read('/api/datasets/ada/Bread', { as: ada })).toMatchObject({ private: false });
  expect(await refusal(settings, { as: ada, method: 'PUT', body: { gated: 'auto' } })).toMatchObject({
    status: 400,
  });

  const gone = { method: 'DELETE', body: { name: 'Bread', organization: 'ada', type: 'dataset' } };
  expect(await refusal('/api/repos/delete', { as: bob, ...gone })).toMatchObject({ status: 403 });
  await read('/api/repos/delete', { as: ada, ...gone });
  expect(await refusal('/api/repos/delete', { as: ada, ...gone })).toMatchObject({ code: 'RepoNotFound' });
  expect((await send('/api/repos/create', create(ada, { name: 'Bread', type: 'dataset' }))).status).toBe(200);
  expect(await recorded(ada)).toEqual(
    expect.arrayContaining(['asset.created', 'asset.renamed', 'asset.published', 'asset.deleted']),
  );
});

test('a clone can be changed only under its own name, not under its name in the public hub', async () => {
  const { id } = await read('/api/repos/create', create(ada, { name: 'Sour', type: 'dataset' }));
  await hub.commit('ada/Sour', [header('Add'), fileLine('a.csv', 'a\n1\n')], { as: ada });
  const source = {
    hubUrl: 'https://hub.example',
    repoId: 'ovens/Sour',
    commitId: 'c'.repeat(40),
  };
  await inTransaction(server.services.db, (tx) => recordSource(tx, id, source));
  const alias = '/api/datasets/ovens/Sour';
  expect(await read(alias, { as: ada })).toMatchObject({ id: 'ada/Sour' });
  const sent = await hub.commit('ovens/Sour', [header('More'), fileLine('b.csv', 'b')], { as: ada });
  expect(sent.status).toBe(404);
  const changes: [string, object][] = [
    [`${alias}/settings`, { method: 'PUT', body: { private: false } }],
    [`${alias}/tag/main`, { body: { tag: 'v1' } }],
    [`${alias}/tag/v1`, { method: 'DELETE' }],
    [`${alias}/preupload/main`, { body: { files: [{ path: 'b.csv', size: 1, sample: 'Yg==' }] } }],
  ];
  for (const [path, options] of changes)
    expect(await refusal(path, { as: ada, ...options }), path).toMatchObject({ code: 'RepoNotFound' });
  const left = await read('/api/datasets/ada/Sour', { as: ada });
  expect(left).toMatchObject({ private: true, siblings: [{ rfilename: 'a.csv' }] });
  const tagged = await send('/api/datasets/ada/Sour/tag/main', { as: ada, body: { tag: 'v1' } });
  expect(tagged.ok).toBe(true);
  expect((await read('/api/datasets/ada/Sour/refs', { as: ada })).tags).toMatchObject([{ name: 'v1' }]);
});

describe('the former name of a repository', () => {
  const move = (fromRepo: string, toRepo: string) =>
    read('/api/repos/move', { as: ada, body: { fromRepo, toRepo, type: 'dataset' } });
  const look = (path: string, as = ada) =>
    fetch(`${server.url}/hub${path}`, {
      redirect: 'manual',
      headers: { authorization: `Bearer ${as.apiKey}` },
    });

  test('redirects readers of the repository to its new name, for every call', async () => {
    await read('/api/repos/create', create(ada, { name: 'first', type: 'dataset' }));
    await hub.commit('ada/first', [header('Add'), fileLine('a.csv', 'a\n1\n')], { as: ada });
    await move('ada/first', 'ada/second');
    await move('ada/second', 'ada/Third');
    for (const old of ['first', 'FIRST', 'second']) {
      expect(await read(`/api/datasets/ada/${old}`, { as: ada })).toMatchObject({ id: 'ada/Third' });
      const file = await look(`/datasets/ada/${old}/resolve/main/a.csv?download=true`);
      expect([file.status, file.headers.get('location')]).toEqual([
        307,
        '/hub/datasets/ada/Third/resolve/main/a.csv?download=true',
      ]);
      expect(await (await send(`/datasets/ada/${old}/resolve/main/a.csv`, { as: ada })).text()).toBe(
        'a\n1\n',
      );
    }
    const paths = { as: ada, body: { paths: ['a.csv'] } };
    expect(await read('/api/datasets/ada/first/paths-info/main', paths)).toHaveLength(1);
    const sent = await hub.commit('ada/first', [header('More'), fileLine('b.csv', 'b')], { as: ada });
    expect(sent.status).toBe(200);
    const batch = await fetch(`${server.url}/hub/datasets/ada/first.git/info/lfs/objects/batch`, {
      ...{
        method: 'POST',
        redirect: 'manual',
        body: JSON.stringify({ operation: 'upload', objects: [{ oid: '0'.repeat(64), size: 1 }] }),
      },
      headers: { authorization: `Bearer ${ada.apiKey}`, 'content-type': 'application/json' },
    });
    expect(batch.headers.get('location')).toBe('/hub/datasets/ada/Third.git/info/lfs/objects/batch');
    expect((await look('/api/datasets/ada/first', bob)).status).toBe(404);
    expect((await look('/api/models/ada/first')).status).toBe(404);
    expect(
      await refusal('/api/repos/delete', {
        as: ada,
        method: 'DELETE',
        body: { name: 'first', type: 'dataset' },
      }),
    ).toMatchObject({ status: 404 });
  });

  test('can be reused; it then no longer redirects, even after the new repository is deleted', async () => {
    await read('/api/repos/create', create(ada, { name: 'first', type: 'dataset' }));
    expect(await read('/api/datasets/ada/first', { as: ada })).toMatchObject({ id: 'ada/first' });
    expect(await read('/api/datasets/ada/second', { as: ada })).toMatchObject({ id: 'ada/Third' });
    await read('/api/repos/delete', { as: ada, method: 'DELETE', body: { name: 'first', type: 'dataset' } });
    expect(await refusal('/api/datasets/ada/first', { as: ada })).toMatchObject({ code: 'RepoNotFound' });
    // Rename back to a former name, and change only the case of a name.
    await move('ada/Third', 'ada/second');
    await move('ada/second', 'ada/Second');
    expect(await read('/api/datasets/ada/third', { as: ada })).toMatchObject({ id: 'ada/Second' });
    await read('/api/repos/delete', { as: ada, method: 'DELETE', body: { name: 'Second', type: 'dataset' } });
    expect(await refusal('/api/datasets/ada/third', { as: ada })).toMatchObject({ code: 'RepoNotFound' });
  });
});

test('a repository is private by default, with every client', async () => {
  await read('/api/repos/create', create(ada, { name: 'quiet', type: 'dataset' }));
  await read('/api/repos/create', create(ada, { name: 'loud', type: 'dataset', private: false }));
  expect(await read('/api/datasets/ada/quiet', { as: ada })).toMatchObject({ private: true, gated: false });
  expect(await refusal('/api/datasets/ada/quiet', { as: bob })).toMatchObject({ code: 'RepoNotFound' });
  expect(await read('/api/datasets/ada/loud', { as: bob })).toMatchObject({ private: false, gated: false });
  const names = async (query: string) =>
    (await read(`/api/datasets?${query}`, { as: bob })).map((one: { id: string }) => one.id);
  expect(await names('author=ada')).toEqual(['ada/loud']);
  expect(await names('search=lou')).toEqual(['ada/loud']);
  expect(await names('author=nobody-here')).toEqual([]);

  const settings = (name: string, body: object, as = ada) => ({
    path: `/api/datasets/ada/${name}/settings`,
    call: { as, method: 'PUT', body },
  });
  const change = ({ path, call }: ReturnType<typeof settings>) => read(path, call);
  await change(settings('quiet', { private: false }));
  expect(await names('author=ada&sort=createdAt')).toEqual(['ada/loud', 'ada/quiet']);
  const foreign = settings('quiet', { private: true }, bob);
  expect(await refusal(foreign.path, foreign.call)).toMatchObject({ status: 403 });
  await change(settings('quiet', { private: true }));
  await change(settings('loud', {}));
  expect(await names('author=ada')).toEqual(['ada/loud']);
  expect(await refusal('/api/datasets/ada/quiet/tree/main', { as: bob })).toMatchObject({
    code: 'RepoNotFound',
  });
  expect(await read('/api/datasets/ada/loud/tree/main', { as: bob })).toEqual([]);
});

test('a read-only key cannot write', async () => {
  const settings = { name: 'reader', scopes: ['read' as const] };
  const { secret } = await server.request(
    createApiKey,
    { params: { userId: ada.userId }, body: settings },
    { as: ada },
  );
  const reader = { ...ada, apiKey: secret };
  expect(await read('/api/whoami-v2', { as: reader })).toMatchObject({
    auth: { accessToken: { role: 'read' } },
  });
  expect(await refusal('/api/repos/create', create(reader, { name: 'no' }))).toMatchObject({ status: 403 });
});

test('rejects unsupported features with a message', async () => {
  await read('/api/repos/create', create(ada, { name: 'plain', type: 'dataset' }));
  expect(await refusal('/api/datasets/ada/plain/discussions', { as: ada, method: 'POST' })).toMatchObject({
    status: 400,
    error: 'There are no discussions and pull requests here. Commit to main',
  });
  expect(await read('/api/datasets/ada/plain/discussions', { as: ada })).toMatchObject({ count: 0 });
});

test("checks a card's metadata before the commit", async () => {
  const check = (content: string) => read('/api/validate-yaml', { body: { content, repoType: 'model' } });
  expect(await check('---\nlicense: mit\n---\nText')).toEqual({ errors: [], warnings: [] });
  expect((await check('Text')).warnings).toHaveLength(1);
  expect((await check('---\na: [b\n---\n')).errors[0].message).toContain('cannot be read');
  expect((await check('---\n&a [*a, *a]\n---\n')).errors).toHaveLength(1);
});
