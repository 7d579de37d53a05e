import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { deleteFile, updateAsset } from '@bakehouse/contract/assets';
import type { CallOf } from '@bakehouse/contract/endpoint';
import * as contract from '@bakehouse/contract/ipfs';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { fakeClock } from '../../testing/fake-clock.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { assetCalls, sha256 } from '../assets/testing/asset-calls.ts';
import { addressFile, addressFolder } from './cids/unixfs.ts';
import { runIpfsWork } from './testing/run-ipfs-work.ts';

const clock = fakeClock();
const server = await testServer({ clock });
const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
const { create, get, upload, uploadAt } = assetCalls(server);

let id: string;
beforeEach(async () => {
  id = await create(ada, { use_ipfs: true });
});

const read = (query: CallOf<typeof contract.getIpfs>['query'] = {}, as = ada) =>
  server.request(contract.getIpfs, { params: { id }, query }, { as });
const list = (query: object = {}, as = ada) =>
  server.request(contract.listIpfsFiles, { params: { id }, query }, { as });
const change = (body: object, as = ada) => server.request(updateAsset, { params: { id }, body }, { as });
const fileCid = async (text: string) => addressFile(Readable.from([Buffer.from(text)]));

test('each revision and file gets a CID once the files are read', async () => {
  await uploadAt(ada, id, 'pages/one.txt', 'one');
  expect(await read()).toMatchObject({
    use_ipfs: true,
    services: [],
    revisions: [{ number: 1, cid: null, reason: null, pins: [] }],
  });
  await runIpfsWork(server.services);
  await uploadAt(ada, id, 'two.txt', 'two');
  await runIpfsWork(server.services);
  const [one, two] = [await fileCid('one'), await fileCid('two')];
  const first = await addressFolder([{ path: 'pages/one.txt', ...one }]);
  const second = await addressFolder([
    { path: 'pages/one.txt', ...one },
    { path: 'two.txt', ...two },
  ]);
  const { revisions } = await read();
  expect(revisions).toMatchObject([
    { number: 2, cid: second.cid },
    { number: 1, cid: first.cid },
  ]);
  expect((await list()).files).toEqual([
    { path: 'pages/one.txt', size_bytes: 3, sha256: sha256('one'), cid: one.cid },
    { path: 'two.txt', size_bytes: 3, sha256: sha256('two'), cid: two.cid },
  ]);
  expect((await list({ revision_id: revisions[1]?.revision_id })).files).toHaveLength(1);
  expect((await get(ada, id)).use_ipfs).toBe(true);
});

test('lists revisions and files by page', async () => {
  for (const name of ['a', 'b', 'c']) {
    await upload(ada, id, `${name}.txt`, name);
    await runIpfsWork(server.services);
  }
  const page = await read({ limit: 2 });
  expect(page.revisions.map(({ number }) => number)).toEqual([3, 2]);
  const rest = await read({ limit: 2, cursor: page.next_cursor ?? '' });
  expect(rest.revisions.map(({ number }) => number)).toEqual([1]);
  expect(rest.next_cursor).toBeNull();
  const files = await list({ limit: 2 });
  expect(files.files.map((file) => file.path)).toEqual(['a.txt', 'b.txt']);
  const others = await list({ limit: 2, cursor: files.next_cursor });
  expect(others).toMatchObject({ files: [{ path: 'c.txt' }], next_cursor: null });
});

test('a revision that is replaced before its CID is known gets no CID', async () => {
  for (const name of ['a', 'b', 'c']) await upload(ada, id, `${name}.txt`, name);
  await runIpfsWork(server.services);
  expect((await read()).revisions.map(({ number }) => number)).toEqual([3]);
});

test('reads equal bytes once, for all users', async () => {
  await upload(ada, id, 'a.txt', 'the same loaf');
  await runIpfsWork(server.services);
  await sql`update blob_cids set cid = 'known' where sha256 = ${sha256('the same loaf')}`.execute(
    server.services.db,
  );
  const other = await create(bob, { use_ipfs: true });
  await upload(bob, other, 'b.txt', 'the same loaf');
  const { files } = await server.request(
    contract.listIpfsFiles,
    { params: { id: other }, query: {} },
    { as: bob },
  );
  expect(files).toMatchObject([{ path: 'b.txt', cid: 'known' }]);
  await sql`delete from blob_cids`.execute(server.services.db);
});

test('IPFS can be enabled later, disabled, and enabled again', async () => {
  id = await create(ada);
  await upload(ada, id, 'a.txt', 'a');
  await runIpfsWork(server.services);
  expect(await read()).toMatchObject({ use_ipfs: false, revisions: [] });
  expect(await change({ use_ipfs: true })).toMatchObject({ use_ipfs: true });
  await runIpfsWork(server.services);
  const { revisions } = await read();
  expect(revisions).toMatchObject([{ number: 1, cid: expect.stringMatching(/^bafybei/) }]);
  await change({ use_ipfs: false });
  expect(await read()).toMatchObject({ use_ipfs: false, revisions: [] });
  await change({ use_ipfs: true });
  await runIpfsWork(server.services);
  expect((await read()).revisions).toMatchObject([{ cid: revisions[0]?.cid }]);
});

test('a revision without files is an empty folder', async () => {
  await upload(ada, id, 'a.txt', 'a');
  await server.request(deleteFile, { params: { id }, body: { file_path: 'a.txt' } }, { as: ada });
  await runIpfsWork(server.services);
  const { revisions } = await read();
  expect(revisions[0]?.cid).toBe('bafybeiczsscdsbs7ffqz55asqdf3smv6klcw3gofszvwlyarci47bgf354');
});

test('reports the name of a damaged file and retries it', async () => {
  await upload(ada, id, 'a.txt', 'what was baked');
  const hash = sha256('what was baked');
  const place = path.join(server.services.config.dataDir, 'blobs', hash.slice(0, 2), hash.slice(2));
  await writeFile(place, 'what was burnt');
  await runIpfsWork(server.services);
  expect((await read()).revisions).toMatchObject([
    { cid: null, reason: expect.stringContaining('The stored bytes of a.txt are damaged') },
  ]);
  await writeFile(place, 'what was baked');
  await sql`update blobs set damaged_at = null`.execute(server.services.db);
  await runIpfsWork(server.services);
  expect((await read()).revisions).toMatchObject([{ cid: expect.any(String), reason: null }]);
});

test("returns 404 for another user's asset and for a missing one", async () => {
  await upload(ada, id, 'a.txt', 'a');
  await runIpfsWork(server.services);
  const refused = (calls: Promise<unknown>[]) =>
    Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ status: 404 })));
  const asBob: [object, TestUser] = [{}, bob];
  await refused([read({}, bob), list(...asBob), change({ use_ipfs: false }, bob)]);
  await refused([list({ revision_id: crypto.randomUUID() })]);
  const bad = [read({ limit: 0 }), read({ cursor: 'x' }), list({ cursor: 'x' })];
  await Promise.all(bad.map((call) => expect(call).rejects.toMatchObject({ status: 400 })));
});
