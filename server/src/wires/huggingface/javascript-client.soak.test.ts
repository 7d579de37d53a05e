import { randomBytes } from 'node:crypto';
import * as hub from '@huggingface/hub';
import { expect, test, vi } from 'vitest';
import { testServer } from '../../testing/test-server.ts';
import { hubCalls } from './testing/hub-calls.ts';

/* The hub's own JavaScript client, unchanged. */

vi.setConfig({ testTimeout: 120_000 });

const server = await testServer();
const ada = await hubCalls(server).signUpAs('ada');
/** The client accepts only tokens with this prefix. */
const as = { hubUrl: `${server.url}/hub`, accessToken: `hf_${ada.apiKey}` };

async function all<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
}

test('returns the caller, and rejects an unknown key', async () => {
  expect(await hub.whoAmI(as)).toMatchObject({ type: 'user', name: 'ada' });
  await expect(hub.whoAmI({ ...as, accessToken: 'hf_bk_nobody' })).rejects.toMatchObject({ statusCode: 401 });
});

test.each(['model', 'dataset'] as const)('creates, fills, lists, reads and deletes a %s', async (type) => {
  const repo = { type, name: `ada/from-js-${type}` };
  const made = await hub.createRepo({ ...as, repo, private: true });
  expect(made.repoUrl).toBe(`${server.url}/hub/${type === 'dataset' ? 'datasets/' : ''}${repo.name}`);
  await expect(hub.createRepo({ ...as, repo })).rejects.toMatchObject({ statusCode: 409 });

  // Too large to inline in a commit, and larger than one part of Git LFS.
  const large = randomBytes(20 * 1024 * 1024);
  const files = [
    { path: 'README.md', content: new Blob(['---\nlicense: mit\n---\n# From JavaScript\n']) },
    { path: 'deep/er/notes.txt', content: new Blob(['crumbs']) },
    { path: 'deep/large.bin', content: new Blob([large]) },
  ];
  const first = await hub.uploadFiles({ ...as, repo, files, commitTitle: 'Bake it' });
  expect(first?.commit.oid).toMatch(/^[0-9a-f]{40}$/);
  await hub.commit({
    ...as,
    repo,
    title: 'Change it',
    operations: [
      { operation: 'addOrUpdate', path: 'deep/er/notes.txt', content: new Blob(['crusts']) },
      { operation: 'delete', path: 'README.md' },
    ],
  });

  const tree = await all(hub.listFiles({ ...as, repo, recursive: true }));
  expect(tree.map(({ type: kind, path }) => [kind, path])).toEqual([
    ['directory', 'deep'],
    ['directory', 'deep/er'],
    ['file', 'deep/er/notes.txt'],
    ['file', 'deep/large.bin'],
  ]);
  const read = async (path: string, revision = 'main') =>
    (await hub.downloadFile({ ...as, repo, path, revision }))
      ?.arrayBuffer()
      .then((bytes) => Buffer.from(bytes));
  expect((await read('deep/er/notes.txt'))?.toString()).toBe('crusts');
  expect((await read('deep/er/notes.txt', first?.commit.oid))?.toString()).toBe('crumbs');
  expect((await read('deep/large.bin'))?.equals(large)).toBe(true);
  expect(await read('nothing.txt')).toBeUndefined();
  expect(await hub.fileExists({ ...as, repo, path: 'deep/large.bin' })).toBe(true);
  expect(await hub.pathsInfo({ ...as, repo, paths: ['deep/large.bin'] })).toMatchObject([
    { size: large.length },
  ]);
  expect((await all(hub.listCommits({ ...as, repo }))).map(({ title }) => title)).toEqual([
    'Change it',
    'Bake it',
    'Create the repository',
  ]);

  const search = { owner: 'ada' };
  const listed =
    type === 'model'
      ? (await all(hub.listModels({ ...as, search }))).map(({ name }) => name)
      : (await all(hub.listDatasets({ ...as, search }))).map(({ name }) => name);
  expect(listed).toEqual([repo.name]);
  const info =
    type === 'model'
      ? await hub.modelInfo({ ...as, name: repo.name })
      : await hub.datasetInfo({ ...as, name: repo.name });
  expect(info).toMatchObject({ name: repo.name, private: true });
  expect(await hub.repoExists({ ...as, repo })).toBe(true);
  await hub.deleteRepo({ ...as, repo });
  expect(await hub.repoExists({ ...as, repo })).toBe(false);
});
