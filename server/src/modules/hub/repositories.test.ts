import { createApiKey } from '@bakehouse/contract/api-keys';
import { beforeAll, expect, test } from 'vitest';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { hubCalls } from './testing/hub-calls.ts';

const server = await testServer();
const { signUpAs, send, read, refusal, recorded } = hubCalls(server);

let ada: TestUser;
let bob: TestUser;
beforeAll(async () => {
  ada = await signUpAs('ada');
  bob = await signUpAs('bob');
});

const create = (as: TestUser, body: object) => ({ as, body });

test('a repository is made once, and whoever makes it again is told where it is', async () => {
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

test('names that no client takes are refused, and so is another user’s namespace', async () => {
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

test('a repository is renamed within its namespace, opened and deleted by its owner alone', async () => {
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
  expect(await refusal('/api/datasets/ada/dough', { as: ada })).toMatchObject({ code: 'RepoNotFound' });

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
    expect.arrayContaining(['asset.created', 'asset.renamed', 'asset.changed', 'asset.deleted']),
  );
});

test('a key that reads writes nothing', async () => {
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

test('what is not here is refused in words', async () => {
  await read('/api/repos/create', create(ada, { name: 'plain', type: 'dataset' }));
  expect(await refusal('/api/datasets/ada/plain/branch/dev', { as: ada, method: 'POST' })).toEqual({
    status: 400,
    code: null,
    error: 'Repositories here have one branch, main. Use a tag to name a revision',
  });
  expect(await refusal('/api/datasets/ada/plain/discussions', { as: ada, method: 'POST' })).toMatchObject({
    status: 400,
    error: 'There are no discussions and pull requests here. Commit to main',
  });
  expect(await read('/api/datasets/ada/plain/discussions', { as: ada })).toMatchObject({ count: 0 });
});

test('the metadata of a card is checked before it is committed', async () => {
  const check = (content: string) =>
    read('/api/validate-yaml', { as: ada, body: { content, repoType: 'model' } });
  expect(await check('---\nlicense: mit\n---\nText')).toEqual({ errors: [], warnings: [] });
  expect((await check('Text')).warnings).toHaveLength(1);
  expect((await check('---\na: [b\n---\n')).errors[0].message).toContain('cannot be read');
  expect((await check('---\n&a [*a, *a]\n---\n')).errors).toHaveLength(1);
});
