import { beforeAll, expect, test } from 'vitest';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { hubCalls } from './testing/hub-calls.ts';

const server = await testServer();
const { signUpAs, send, read, refusal, recorded } = hubCalls(server);

let ada: TestUser;
beforeAll(async () => {
  ada = await signUpAs('ada');
});

const file = (path: string, content: string) => ({ key: 'file', value: { path, content } });

/** Creates a dataset with one commit on main, and a branch of it. */
async function createRepository(name: string) {
  await read('/api/repos/create', { as: ada, body: { name, type: 'dataset' } });
  const at = `/api/datasets/ada/${name}`;
  const commit = async (revision: string, ...lines: object[]): Promise<Response> =>
    send(`${at}/commit/${encodeURIComponent(revision)}`, {
      as: ada,
      body: [{ key: 'header', value: { summary: `To ${revision}` } }, ...lines]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
      headers: { 'content-type': 'application/x-ndjson' },
    });
  const list = async (revision: string) =>
    (await read(`${at}/tree/${encodeURIComponent(revision)}?recursive=true`, { as: ada }))
      .filter((entry: { type: string }) => entry.type === 'file')
      .map((entry: { path: string }) => entry.path);
  const history = async (revision: string, query = '') =>
    (await read(`${at}/commits/${encodeURIComponent(revision)}${query}`, { as: ada })).map(
      (one: { title: string }) => one.title,
    );
  await commit('main', file('a.csv', 'a\n1\n'), file('data/b.csv', 'b\n1\n'));
  const branched = await send(`${at}/branch/exp%2F1`, { as: ada, body: {} });
  expect(branched.status).toBe(204);
  return { at, commit, list, history };
}

test("a branch and main do not contain each other's commits", async () => {
  const { at, commit, list, history } = await createRepository('lines');
  const heads = async () => {
    const { branches } = await read(`${at}/refs`, { as: ada });
    return branches.map(({ name, targetCommit }: { name: string; targetCommit: string }) => [
      name,
      targetCommit,
    ]);
  };
  const [[, main], [name, head]] = await heads();
  expect([name, head]).toEqual(['exp/1', main]);

  expect((await commit('exp/1', file('a.csv', 'a\n2\n'), file('new.csv', 'n\n'))).status).toBe(200);
  await commit('exp/1', { key: 'deletedFolder', value: { path: 'data' } });
  await commit('main', file('main.csv', 'm\n'), { key: 'deletedFile', value: { path: 'a.csv' } });
  expect(await list('exp/1')).toEqual(['a.csv', 'new.csv']);
  expect(await list('main')).toEqual(['data/b.csv', 'main.csv']);
  const text = async (revision: string) =>
    (await send(`/datasets/ada/lines/resolve/${revision}/a.csv`, { as: ada })).text();
  expect(await text('exp%2F1')).toBe('a\n2\n');
  expect(await text(main)).toBe('a\n1\n');

  const all = ['To exp/1', 'To exp/1', 'To main', 'Create the repository'];
  expect(await history('exp/1')).toEqual(all);
  expect(await history('exp/1', '?limit=2&p=1')).toEqual(all.slice(2));
  expect(await history('exp/1', '?limit=3&p=0')).toEqual(all.slice(0, 3));
  expect(await history('main')).toEqual(['To main', 'To main', 'Create the repository']);
  expect((await heads())[0][1]).not.toBe(main);

  expect((await commit('exp/1', file('new.csv/x', '1'))).status).toBe(409);
  expect((await commit('exp/1', { key: 'deletedFile', value: { path: 'main.csv' } })).status).toBe(404);
});

test('returns the last commit of files that a branch inherits from main', async () => {
  const { at, commit } = await createRepository('last-commits');
  await commit('exp/1', file('a.csv', 'a\n2\n'));
  await commit('main', file('data/b.csv', 'b\n2\n'));
  const { commitOid } = (await (await commit('exp/1', file('c.csv', 'c\n'))).json()) as { commitOid: string };
  const titlesOf = (entries: { path: string; lastCommit?: { title: string } }[]) =>
    Object.fromEntries(entries.map((one) => [one.path, one.lastCommit?.title]));
  const titles = { 'a.csv': 'To exp/1', 'c.csv': 'To exp/1', 'data/b.csv': 'To main' };
  const files = (await read(`${at}/tree/exp%2F1?recursive=true&expand=true`, { as: ada })).filter(
    (entry: { type: string }) => entry.type === 'file',
  );
  expect(titlesOf(files)).toEqual(titles);
  const body = { paths: Object.keys(titles), expand: true };
  expect(titlesOf(await read(`${at}/paths-info/${commitOid}`, { as: ada, body }))).toEqual(titles);
});

test('allows any number of branches over time, if others are deleted', async () => {
  const { at } = await createRepository('many');
  const create = (name: string) => send(`${at}/branch/${name}`, { as: ada, body: {} });
  await server.services.db
    .updateTable('revision_branches')
    .set({ start_number: -2_147_000_000 })
    .where('name', '=', 'exp/1')
    .execute();
  for (const name of ['x', 'y']) expect((await create(name)).status).toBe(204);
  await send(`${at}/branch/x`, { as: ada, method: 'DELETE' });
  expect((await create('z')).status).toBe(204);
});

test('deletes a branch with its commits, but not main', async () => {
  const { at, commit, list } = await createRepository('gone');
  const { commitOid } = (await (await commit('exp/1', file('c.csv', 'c\n'))).json()) as { commitOid: string };
  expect(await list(commitOid)).toEqual(['a.csv', 'c.csv', 'data/b.csv']);
  expect((await send(`${at}/branch/exp%2F1`, { as: ada, method: 'DELETE' })).status).toBe(204);
  for (const revision of ['exp%2F1', commitOid])
    expect(await refusal(`${at}/tree/${revision}`, { as: ada })).toMatchObject({ code: 'RevisionNotFound' });
  expect(await list('main')).toEqual(['a.csv', 'data/b.csv']);
  expect(await refusal(`${at}/branch/exp%2F1`, { as: ada, method: 'DELETE' })).toMatchObject({ status: 404 });
  expect(await refusal(`${at}/branch/main`, { as: ada, method: 'DELETE' })).toMatchObject({ status: 400 });
  expect(await recorded(ada)).toEqual(
    expect.arrayContaining(['asset.branch_created', 'asset.branch_deleted']),
  );
});

test('rejects names that are taken or invalid in Git, and branches created from other branches', async () => {
  const { at, commit } = await createRepository('names');
  const create = (name: string, body: object = {}) =>
    refusal(`${at}/branch/${encodeURIComponent(name)}`, { as: ada, body });
  await send(`${at}/tag/main`, { as: ada, body: { tag: 'v1' } });
  expect(await create('exp/1')).toMatchObject({ status: 409, error: 'exp/1 exists already' });
  expect(await create('v1')).toMatchObject({ status: 409 });
  for (const name of ['main', 'a..b', 'refs/heads/x'])
    expect(await create(name)).toMatchObject({ status: 400 });
  await commit('exp/1', file('c.csv', 'c\n'));
  expect(await create('exp/2', { startingPoint: 'exp/1' })).toMatchObject({
    status: 400,
    error: 'A branch starts at a revision of main',
  });
  expect(await refusal(`${at}/tag/main`, { as: ada, body: { tag: 'exp/1' } })).toMatchObject({ status: 409 });
  expect((await commit('v1', file('c.csv', 'c\n'))).status).toBe(400);
});
