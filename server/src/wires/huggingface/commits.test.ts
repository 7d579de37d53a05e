import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { createApiKey, revokeApiKey } from '@bakehouse/contract/api-keys';
import { beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { upsertBlob } from '../../platform/storage/queries.ts';
import { markComplete } from '../../platform/storage/uploads/queries.ts';
import { receivePart } from '../../platform/storage/uploads/receive-part.ts';
import { openUpload } from '../../platform/storage/uploads/uploads.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { checkSignature } from './lfs.ts';
import { fileLine, header, hubCalls } from './testing/hub-calls.ts';

const server = await testServer();
const { signUpAs, send, read, refusal, recorded, commit } = hubCalls(server);

let ada: TestUser;
let bob: TestUser;
beforeAll(async () => {
  ada = await signUpAs('ada');
  bob = await signUpAs('bob');
});

let count = 0;
/** Creates a repository of Ada's. */
async function repository(type = 'dataset'): Promise<string> {
  count += 1;
  await read('/api/repos/create', { as: ada, body: { name: `repository-${count}`, type } });
  return `ada/repository-${count}`;
}

const paths = async (id: string, type = 'datasets') =>
  (await read(`/api/${type}/${id}/tree/main?recursive=true`, { as: ada }))
    .filter((one: { type: string }) => one.type === 'file')
    .map((one: { path: string }) => one.path);
const made = async (response: Response) => {
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as { commitOid: string };
};
const refusedWith = async (response: Response) => {
  const { error } = (await response.json()) as { error: string };
  return { status: response.status, code: response.headers.get('x-error-code'), error };
};
const deletedFolder = (path: string) => ({ key: 'deletedFolder', value: { path } });
const deleted = (path: string) => ({ key: 'deletedFile', value: { path } });

test('a commit adds, replaces, copies and deletes in one revision', async () => {
  const id = await repository();
  const first = [
    header('First', { description: 'And more' }),
    fileLine('a.txt', 'a'),
    fileLine('old/b.txt', 'b'),
  ];
  await made(await commit(id, [...first, fileLine('old/c.txt', 'c')], { as: ada }));
  const { commitOid } = await made(
    await commit(
      id,
      [
        header('Second'),
        { key: 'deletedFolder', value: { path: 'old/' } },
        fileLine('a.txt', 'A'),
        { key: 'copyFile', value: { path: 'new/b.txt', srcPath: 'old/b.txt' } },
      ],
      { as: ada },
    ),
  );
  expect(await paths(id)).toEqual(['a.txt', 'new/b.txt']);
  expect(await (await send(`/datasets/${id}/resolve/main/new/b.txt`, { as: ada })).text()).toBe('b');
  const [newest, before] = await read(`/api/datasets/${id}/commits/main`, { as: ada });
  expect(newest).toMatchObject({ id: commitOid, title: 'Second', authors: [{ user: 'ada' }] });
  expect(before).toMatchObject({ title: 'First', message: 'And more' });
  expect(await recorded(ada)).toContain('asset.committed');
});

test('deletes overlapping and repeated folders once', async () => {
  const id = await repository();
  const files = ['a', 'old/b', 'old/in/c', 'old-too/d', 'old0'].map((path) => fileLine(path, path));
  await made(await commit(id, [header('First'), ...files], { as: ada }));
  const folders = ['old', 'old/in', 'old', 'old-too'].map(deletedFolder);
  await made(await commit(id, [header('Second'), ...folders], { as: ada }));
  expect(await paths(id)).toEqual(['a', 'old0']);
});

test('a model gets the family in its configuration', async () => {
  const id = await repository('model');
  const lines = [header('x'), fileLine('config.json', '{"model_type": "qwen2"}')];
  await made(await commit(id, lines, { as: ada, headers: { 'x-type': 'models' } }));
  const model = await server.services.db
    .selectFrom('assets')
    .select('family')
    .where('title', '=', id.slice('ada/'.length))
    .executeTakeFirst();
  expect(model).toEqual({ family: 'qwen' });
});

test('repeating a commit changes nothing', async () => {
  const id = await repository();
  const lines = [header('Once'), fileLine('a.txt', 'a')];
  const first = await made(await commit(id, lines, { as: ada }));
  expect(await made(await commit(id, lines, { as: ada }))).toEqual(first);
});

test('rejects the second of two commits on the same parent, and writes nothing', async () => {
  const id = await repository();
  const { sha } = await read(`/api/datasets/${id}`, { as: ada });
  const on = (path: string) =>
    commit(id, [header('On', { parentCommit: sha }), fileLine(path, path)], { as: ada });
  const answers = await Promise.all([on('a.txt'), on('b.txt'), on('c.txt')]);
  expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 412)).toHaveLength(2);
  expect(await paths(id)).toHaveLength(1);
});

describe('rejects a commit as a whole if one line is invalid', () => {
  const cases: [string, object[], object][] = [
    ['a path that leaves the repository', [fileLine('../a', 'a')], { status: 400 }],
    ['an absolute path', [fileLine('/etc/passwd', 'a')], { status: 400 }],
    ['a deletion of a missing file', [deleted('nothing')], { status: 404, code: 'EntryNotFound' }],
    [
      'a deletion of a missing folder',
      [fileLine('old/a', 'a'), deletedFolder('other')],
      { status: 404, code: 'EntryNotFound' },
    ],
    [
      'too many deleted folders',
      Array.from({ length: 1001 }, (_, index) => deletedFolder(`${index}`)),
      { status: 400, error: 'A commit may delete at most 1000 folders' },
    ],
    ['a path that is both a file and a folder', [fileLine('x', 'x'), fileLine('x/y', 'y')], { status: 409 }],
    ['a card that is too large', [fileLine('README.md', '<script>'.repeat(200_000))], { status: 400 }],
    ['bytes that were not uploaded', [lfsLine('big.bin', 'a'.repeat(64))], { status: 400 }],
    ['an invalid line', [{ key: 'other', value: {} }], { status: 400 }],
    ['an invalid parent', [header('x', { parentCommit: 'main' })], { status: 400 }],
  ];
  test.each(cases)('%s', async (_name, lines, answer) => {
    const id = await repository();
    const response = await commit(id, [header('No'), fileLine('good.txt', 'good'), ...lines], { as: ada });
    expect(await refusedWith(response)).toMatchObject(answer);
    expect(await paths(id)).toEqual([]);
  });

  test('without its header, or with invalid JSON', async () => {
    const id = await repository();
    expect((await commit(id, [fileLine('a', 'a')], { as: ada })).status).toBe(400);
    const response = await send(`/api/datasets/${id}/commit/main`, { as: ada, body: 'nonsense' });
    expect(await refusedWith(response)).toMatchObject({
      status: 400,
      error: 'Line 1 of the commit is not JSON',
    });
  });

  test("to another branch, as a pull request, or to another user's repository", async () => {
    const id = await repository();
    const lines = `${JSON.stringify(header('x'))}\n${JSON.stringify(fileLine('a', 'a'))}`;
    const to = (path: string, as: TestUser) =>
      refusal(`/api/datasets/${id}/commit/${path}`, { as, body: lines });
    expect(await to('other', ada)).toMatchObject({ status: 404, code: 'RevisionNotFound' });
    expect(await to('main?create_pr=1', ada)).toMatchObject({ status: 400 });
    expect(await to('main', bob)).toMatchObject({ status: 404, code: 'RepoNotFound' });
  });

  test('with unsafe weights of a model', async () => {
    const id = await repository('model');
    const lines = [header('x'), fileLine('model.safetensors', 'no weights')];
    const response = await commit(id, lines, { as: ada, headers: { 'x-type': 'models' } });
    expect(await refusedWith(response)).toMatchObject({ status: 400 });
    expect(await paths(id, 'models')).toEqual([]);
  });
});

/** Returns the signed parameters in the URL of a part. */
function signedOf(href: string) {
  const { pathname, searchParams } = new URL(href);
  const uploadId = /lfs\/([^/]+)\/parts/.exec(pathname)?.[1] ?? '';
  const [by, key_id, expires, signature] = ['by', 'key_id', 'expires', 'signature'].map(
    (name) => searchParams.get(name) ?? '',
  ) as [string, string, string, string];
  return { uploadId, by, key_id, expires: Number(expires), signature };
}

describe('Git LFS', () => {
  const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  const batch = (id: string, files: Buffer[], as = ada) =>
    read(`/datasets/${id}.git/info/lfs/objects/batch`, {
      as,
      body: {
        operation: 'upload',
        transfers: ['basic', 'multipart'],
        objects: files.map((bytes) => ({ oid: hashOf(bytes), size: bytes.length })),
        hash_algo: 'sha256',
      },
    });
  const put = (href: string, bytes: Buffer) => fetch(href, { method: 'PUT', body: new Uint8Array(bytes) });

  test('receives a whole file, which is then committed, and does not request it again', async () => {
    const id = await repository();
    const bytes = randomBytes(1000);
    const [object] = (await batch(id, [bytes])).objects;
    expect((await put(object.actions.upload.href, bytes)).status).toBe(200);
    const verify = { as: ada, body: { oid: object.oid, size: bytes.length } };
    expect(await read('/lfs/verify', verify)).toEqual({ success: true });
    await made(await commit(id, [header('x'), lfsLine('big.bin', object.oid)], { as: ada }));
    const stored = await send(`/datasets/${id}/resolve/main/big.bin`, { as: ada });
    expect(hashOf(Buffer.from(await stored.arrayBuffer()))).toBe(object.oid);
    expect((await batch(id, [bytes])).objects[0].actions).toBeUndefined();
  });

  test('receives a file in parts and resumes an upload', async () => {
    const id = await repository();
    const bytes = randomBytes(40 * 1024 * 1024);
    const [object] = (await batch(id, [bytes])).objects;
    const { chunk_size, ...urls } = object.actions.upload.header as Record<string, string>;
    const size = Number(chunk_size);
    const part = (number: number) => bytes.subarray((number - 1) * size, number * size);
    expect((await put(urls['2'] ?? '', part(2))).headers.get('etag')).toBe(`"${hashOf(part(2))}"`);
    const [again] = (await batch(id, [bytes])).objects;
    const pathOf = (one: typeof object) => new URL(one.actions.upload.href).pathname;
    expect(pathOf(again)).toBe(pathOf(object));
    const complete = () =>
      fetch(object.actions.upload.href, {
        method: 'POST',
        headers: { 'content-type': 'application/vnd.git-lfs+json' },
        body: JSON.stringify({ oid: object.oid, parts: [] }),
      });
    expect((await complete()).status).toBe(409);
    for (const number of Object.keys(urls)) await put(urls[number] ?? '', part(Number(number)));
    expect((await complete()).status).toBe(200);
    expect((await complete()).status).toBe(200);
    await made(await commit(id, [header('x'), lfsLine('big.bin', object.oid)], { as: ada }));
  });

  test('requests a file again if its bytes are gone, and completes an upload that a killed server left', async () => {
    const id = await repository();
    const [lost, left] = [randomBytes(1000), randomBytes(1000)];
    const [object] = (await batch(id, [lost])).objects;
    await put(object.actions.upload.href, lost);
    const { blobs, db } = server.services;
    await blobs.delete(object.oid);
    expect((await batch(id, [lost])).objects[0].actions).toBeDefined();

    const file = { userId: ada.userId, sizeBytes: left.length, sha256: hashOf(left) };
    const { id: uploadId } = await openUpload(server.services, { ...file, partBytes: 600 });
    const part = { uploadId, userId: ada.userId, sha256: null };
    for (const number of [1, 2]) {
      const bytes = Readable.from([left.subarray((number - 1) * 600, number * 600)]);
      await receivePart(server.services, { ...part, number, bytes });
    }
    await inTransaction(db, async (tx) => {
      await upsertBlob(tx, file);
      await markComplete(tx, uploadId, file.sha256);
    });
    expect((await batch(id, [left])).objects[0].actions).toBeUndefined();
    expect(await blobs.stat(file.sha256)).toEqual({ sizeBytes: left.length });
  });

  test('releases the uploads of a commit, except those that a clone or another upload needs', async () => {
    const id = await repository();
    const bytes = randomBytes(1000);
    const [object] = (await batch(id, [bytes])).objects;
    await put(object.actions.upload.href, bytes);
    const { db } = server.services;
    const file = { userId: ada.userId, sizeBytes: bytes.length, sha256: object.oid };
    const [waiting, cloned] = [
      await openUpload(server.services, file),
      await openUpload(server.services, file),
    ];
    const { asset_id } = await db
      .selectFrom('assets')
      .select('id as asset_id')
      .where('title', '=', id.slice('ada/'.length))
      .executeTakeFirstOrThrow();
    await db.insertInto('asset_uploads').values({ id: waiting.id, asset_id, path: 'later.bin' }).execute();
    const now = new Date();
    const clone = await db
      .insertInto('hub_clones')
      .values({
        ...{ user_id: ada.userId, repo_id: 'bakery/rows', dataset_type: 'RAW', commit_id: 'c'.repeat(40) },
        ...{ check_at: now, created_at: now },
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await db
      .insertInto('hub_clone_files')
      .values({
        ...{ clone_id: clone.id, path: 'a.bin', size_bytes: 1000n, git_sha1: 'a'.repeat(40) },
        upload_id: cloned.id,
      })
      .execute();
    await made(await commit(id, [header('x'), lfsLine('big.bin', object.oid)], { as: ada }));
    const left = await db.selectFrom('uploads').select('id').where('sha256', '=', object.oid).execute();
    expect(left.map((upload) => upload.id).toSorted()).toEqual([waiting.id, cloned.id].toSorted());
  });

  test('rejects bytes that do not match the announced hash, and modified URLs', async () => {
    const id = await repository();
    const bytes = randomBytes(1000);
    const [object] = (await batch(id, [bytes])).objects;
    const { href } = object.actions.upload;
    expect((await put(href.replace(/by=[^&]+/, `by=${bob.userId}`), bytes)).status).toBe(403);
    expect((await put(href, randomBytes(1000))).status).toBe(400);
    const line = lfsLine('big.bin', object.oid);
    expect((await commit(id, [header('x'), line], { as: ada })).status).toBe(400);
  });

  test('accepts bytes at a URL for a day, but only while the key that requested it is valid', async () => {
    const id = await repository();
    const bytes = randomBytes(1000);
    const named = { params: { userId: ada.userId }, body: { name: 'pusher' } };
    const { api_key, secret } = await server.request(createApiKey, named, { as: ada });
    const [object] = (await batch(id, [bytes], { ...ada, apiKey: secret })).objects;
    const { href } = object.actions.upload;
    const { uploadId, ...query } = signedOf(href);
    const later = { ...server.services, clock: { now: () => new Date(Date.now() + 25 * 60 * 60_000) } };
    await expect(checkSignature(later, { uploadId, ...query })).rejects.toThrow('This address has expired');
    await server.request(revokeApiKey, { params: { keyId: api_key.id } }, { as: ada });
    const answer = await put(href, bytes);
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: expect.stringContaining('This address has expired') });
  });

  test("does not give access to another user's bytes to a caller who knows their hash", async () => {
    const id = await repository();
    await made(await commit(id, [header('x'), fileLine('secret.txt', 'secret')], { as: ada }));
    await read('/api/repos/create', { as: bob, body: { name: 'thief', type: 'dataset' } });
    const line = lfsLine('mine.txt', hashOf(Buffer.from('secret')));
    expect((await commit('bob/thief', [header('x'), line], { as: bob })).status).toBe(400);
    const [object] = (await batch('bob/thief', [Buffer.from('secret')], bob)).objects;
    expect(object.actions.upload.href).toContain('/hub/lfs/');
    expect(
      await refusal(`/datasets/${id}.git/info/lfs/objects/batch`, {
        as: bob,
        body: { operation: 'upload', objects: [{ oid: object.oid, size: 1 }] },
      }),
    ).toMatchObject({ status: 404 });
  });
});

test('asks clients to inline small files in the commit, and to upload large ones before it', async () => {
  const id = await repository();
  const answer = await read(`/api/datasets/${id}/preupload/main`, {
    as: ada,
    body: {
      files: [
        { path: 'a.txt', size: 10, sample: '' },
        { path: 'a.parquet', size: 10, sample: '' },
        { path: 'b.bin', size: 10_000_000, sample: '' },
      ],
    },
  });
  expect(answer.files).toMatchObject([
    { path: 'a.txt', uploadMode: 'regular', shouldIgnore: false },
    { path: 'a.parquet', uploadMode: 'lfs' },
    { path: 'b.bin', uploadMode: 'lfs', shouldIgnore: false },
  ]);
});

function lfsLine(path: string, oid: string): object {
  return { key: 'lfsFile', value: { path, algo: 'sha256', oid, size: 1 } };
}
