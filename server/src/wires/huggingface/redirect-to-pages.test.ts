import { expect, test } from 'vitest';
import { testServer } from '../../testing/test-server.ts';
import { hubCalls } from './testing/hub-calls.ts';

test('redirects a browser to the page of a repository, tells git to use hf download, and rejects other programs', async () => {
  const server = await testServer();
  const { read, signUpAs, refusal } = hubCalls(server);
  const ada = await signUpAs('ada');
  const eve = await signUpAs('eve');
  const body = { name: 'loaf', type: 'dataset' };
  const { url } = await read('/api/repos/create', { as: ada, body });
  expect(url).toBe(`${server.url}/hub/datasets/ada/loaf`);
  const open = async (address: string, accept = 'text/html,*/*;q=0.8') => {
    const { status, headers } = await fetch(address, { headers: { accept }, redirect: 'manual' });
    return [status, headers.get('location')];
  };
  const sha = 'a'.repeat(40);
  expect(await open(url)).toEqual([302, '/datasets/ada/loaf']);
  expect(await open(`${url}/commit/${sha}`)).toEqual([302, `/datasets/ada/loaf/commit/${sha}`]);
  expect(await open(`${url}/blob/main/a%20b/c.csv?x=1`)).toEqual([
    302,
    '/datasets/ada/loaf/blob/main/a%20b/c.csv',
  ]);
  // The redirect does not reveal which repositories exist.
  expect(await open(`${server.url}/hub/nobody/nothing/tree/main`)).toEqual([
    302,
    '/models/nobody/nothing/tree/main',
  ]);
  expect(await open(url, '*/*')).toEqual([404, null]);
  expect(await open(`${server.url}/hub/api/datasets/ada`)).toEqual([404, null]);
  expect(await open(`${server.url}/hub/datasets`)).toEqual([404, null]);
  // Git only prints the body of a 403 with this content type.
  const cloned = await fetch(`${url}/info/refs?service=git-upload-pack`);
  expect([cloned.status, cloned.headers.get('content-type')]).toEqual([403, 'text/plain; charset=utf-8']);
  expect(await cloned.text()).toContain('hf download ada/loaf --repo-type dataset --local-dir loaf');

  // The page finds out whether the repository is a dataset or a model.
  const named = '/api/datasets/ADA/loaf/auth-check';
  const { dataset_id: id } = await server.services.db
    .selectFrom('assets')
    .select('id as dataset_id')
    .where('name', '=', 'loaf')
    .executeTakeFirstOrThrow();
  expect(await read(named, { as: ada })).toEqual({ success: true, _id: id });
  expect(await refusal(named, { as: eve })).toMatchObject({ status: 404, code: 'RepoNotFound' });
});
