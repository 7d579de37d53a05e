import { createHash, randomBytes } from 'node:crypto';
import { createApiKey, revokeApiKey } from '@bakehouse/contract/api-keys';
import * as contract from '@bakehouse/contract/asset-uploads';
import * as assets from '@bakehouse/contract/assets';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { type TestUser, testServer } from '../../../../../testing/test-server.ts';
import { collectBlobsJob } from '../../../jobs/collect-blobs.ts';
import { assetCalls, refusalOf } from '../../../testing/asset-calls.ts';
import { completeUpload } from './uploads.ts';

const MB = 1024 * 1024;
const server = await testServer({ config: { storageGb: 200 / 1024, fileGb: 100 / 1024 } });
const { contextOf, create, download, get, uploadAt } = assetCalls(server);
const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
const { db } = server.services;

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
/** Three parts; the last one is short. */
const bytes = randomBytes(33 * MB);

type Words = { path?: string; size_bytes?: number; sha256?: string };
const start = (id: string, words: Words = {}, as: TestUser = ada) =>
  server.send(
    contract.createUpload,
    { params: { id }, body: { path: 'weights.bin', size_bytes: bytes.length, ...words } },
    { as },
  );
const open = async (id: string, words: Words = {}) =>
  (await (await start(id, words)).json()) as contract.AssetUpload;

type Sent = { sha256?: string; as?: { apiKey: string }; type?: string };
function send(id: string, upload: contract.AssetUpload, number: number, content?: Buffer, sent: Sent = {}) {
  const part = content ?? bytes.subarray((number - 1) * upload.part_bytes, number * upload.part_bytes);
  const { sha256 = hashOf(part), as = ada, type } = sent;
  const url = endpointUrl(contract.putUploadPart.path, {
    id,
    uploadId: upload.upload_id,
    number: String(number),
  });
  return fetch(`${server.url}${url}?sha256=${sha256}`, {
    method: 'PUT',
    headers: { 'x-api-key': as.apiKey, ...(type && { 'content-type': type }) },
    body: new Uint8Array(part),
  });
}

const call = { as: ada };
const at = (id: string, { upload_id }: contract.AssetUpload) => ({ params: { id, uploadId: upload_id } });

test('creates one file in a new revision from parts in any order', async () => {
  const id = await create(ada);
  const upload = await open(id);
  expect(upload).toMatchObject({ part_bytes: 16 * MB, part_count: 3, is_whole: false, parts: [] });
  const types = ['application/octet-stream', 'text/plain', 'application/x-www-form-urlencoded'];
  const answers = await Promise.all(
    [3, 1, 2].map((number, index) => send(id, upload, number, undefined, { type: types[index] ?? '' })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  // The file is invisible before.
  expect(await get(ada, id)).toMatchObject({ file_count: 0, revision_id: null });

  const done = await server.request(contract.completeUpload, at(id, upload), call);
  expect(done.file).toMatchObject({ path: 'weights.bin', size_bytes: bytes.length, sha256: hashOf(bytes) });
  expect(await get(ada, id)).toMatchObject({ file_count: 1, revision_id: done.revision_id });
  expect(hashOf(Buffer.from(await (await download(ada, id, 'weights.bin')).arrayBuffer()))).toBe(
    hashOf(bytes),
  );
  // A client that missed the response repeats the call.
  expect(await server.request(contract.completeUpload, at(id, upload), call)).toEqual(done);
  expect(await server.request(contract.listUploads, { params: { id } }, call)).toEqual({ uploads: [] });
  const { rows } = await sql<{ detail: object }>`
    select detail from audit_log where action = 'asset.file_uploaded' and user_id = ${ada.userId}`.execute(
    db,
  );
  expect(rows).toEqual([{ detail: { asset_id: id, path: 'weights.bin', sha256: hashOf(bytes) } }]);

  // The server already stores these bytes for this user, so they need not be sent again.
  const other = await create(ada);
  const known = await open(other, { sha256: hashOf(bytes), path: 'copy/weights.bin' });
  expect(known).toMatchObject({ is_whole: true, received_bytes: bytes.length });
  await server.request(contract.completeUpload, at(other, known), call);
  expect((await get(ada, other)).files).toMatchObject([{ path: 'copy/weights.bin' }]);
  // The response must not reveal that another user stores the same bytes.
  const theirs = await start(await create(bob), { sha256: hashOf(bytes) }, bob);
  expect(await theirs.json()).toMatchObject({ is_whole: false });
  await server.request(assets.deleteAsset, { params: { id } }, call);
  await server.request(assets.deleteAsset, { params: { id: other } }, call);
});

test('resumes an upload of the same file, with its received parts', async () => {
  const id = await create(ada);
  const upload = await open(id);
  await send(id, upload, 2);
  const cut = await fetch(
    `${server.url}${endpointUrl(contract.putUploadPart.path, { id, uploadId: upload.upload_id, number: '1' })}?sha256=${hashOf(bytes)}`,
    {
      method: 'PUT',
      headers: { 'x-api-key': ada.apiKey },
      body: new ReadableStream({
        start: (stream) => {
          stream.enqueue(new Uint8Array(MB));
          stream.error(new Error('the network is gone'));
        },
      }),
      duplex: 'half',
    },
  ).catch((error: unknown) => error);
  expect(cut).toBeInstanceOf(Error);

  expect(await open(id)).toMatchObject({
    upload_id: upload.upload_id,
    received_bytes: upload.part_bytes,
    parts: [{ number: 2, sha256: hashOf(bytes.subarray(upload.part_bytes, 2 * upload.part_bytes)) }],
  });
  const { uploads } = await server.request(contract.listUploads, { params: { id } }, call);
  expect(uploads).toMatchObject([{ upload_id: upload.upload_id, received_bytes: upload.part_bytes }]);
  const early = await server.send(contract.completeUpload, at(id, upload), call);
  expect(await refusalOf(early)).toMatchObject({
    status: 409,
    message: '2 of 3 parts are missing, the first is part 1',
  });

  // A different file for the same path replaces the unfinished upload.
  const longer = await open(id, { size_bytes: bytes.length + 1 });
  expect(longer.upload_id).not.toBe(upload.upload_id);
  expect((await send(id, upload, 1)).status).toBe(404);
  expect((await server.send(contract.abandonUpload, at(id, longer), call)).status).toBe(204);
  expect((await server.send(contract.abandonUpload, at(id, longer), call)).status).toBe(404);
});

test('rejects invalid files by field', async () => {
  const id = await create(ada);
  expect(await (await uploadAt(ada, id, 'vae/config.json', '{}')).json()).toBeDefined();
  const refused: [Words, number, RegExp][] = [
    [{ path: '../secret' }, 400, /path must be relative/],
    [{ path: 'a/../../b' }, 400, /path must be relative/],
    [{ path: '/etc/passwd' }, 400, /path must be relative/],
    [{ path: 'a\\b' }, 400, /no \\/],
    [{ path: 'vae' }, 409, /vae is a folder/],
    [{ path: 'vae/config.json/x' }, 409, /vae\/config.json is a file/],
    [{ size_bytes: 0 }, 400, /empty/],
    [{ size_bytes: -1 }, 400, /empty/],
    [{ size_bytes: 2 ** 60 }, 400, /./],
    [{ size_bytes: 100 * MB + 1 }, 413, /A file may have at most 100\.00 MB here/],
    [{ sha256: 'x' }, 400, /SHA-256/],
  ];
  for (const [words, status, message] of refused) {
    expect(await refusalOf(await start(id, words)), JSON.stringify(words)).toMatchObject({
      status,
      message: expect.stringMatching(message),
    });
  }
  expect(await server.request(contract.listUploads, { params: { id } }, call)).toEqual({ uploads: [] });
  expect(await server.request(contract.getUploadLimits, {}, call)).toEqual({ file_bytes_max: 100 * MB });
});

test("checks a part's number, size, hash and owner", async () => {
  const id = await create(ada);
  const upload = await open(id);
  for (const number of [0, 4, -1, 1.5, 2 ** 40]) {
    const answer = await send(id, upload, number, randomBytes(10));
    expect(await refusalOf(answer)).toMatchObject({
      status: 400,
      message: expect.stringMatching(/[Pp]arts/),
    });
  }
  const short = await refusalOf(await send(id, upload, 1, randomBytes(10)));
  expect(short).toMatchObject({
    status: 400,
    message: 'This part must have 16777216 bytes, but 10 were received',
  });
  expect((await send(id, upload, 3, randomBytes(2 * MB))).status).toBe(400);
  const wrong = await refusalOf(await send(id, upload, 3, undefined, { sha256: '0'.repeat(64) }));
  expect(wrong).toMatchObject({ status: 400, message: expect.stringContaining('not the announced one') });
  expect((await send(id, upload, 3, undefined, { sha256: 'x' })).status).toBe(400);
  expect((await send(id, upload, 3, undefined, { as: bob })).status).toBe(404);
  const bobs = await create(bob);
  expect((await send(bobs, upload, 3, undefined, { as: bob })).status).toBe(404);
  expect((await server.request(contract.getUpload, at(id, upload), call)).parts).toEqual([]);

  const both = await Promise.all([send(id, upload, 3), send(id, upload, 3)]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect(await refusalOf(await send(id, upload, 3, randomBytes(MB)))).toMatchObject({ status: 409 });
  await server.request(contract.abandonUpload, at(id, upload), call);
});

test('an upload whose bytes differ from the announced hash leaves nothing', async () => {
  const id = await create(ada);
  const upload = await open(id, { sha256: '0'.repeat(64) });
  for (const number of [1, 2, 3]) await send(id, upload, number);
  const answer = await server.send(contract.completeUpload, at(id, upload), call);
  expect(await refusalOf(answer)).toMatchObject({
    status: 400,
    message: expect.stringContaining(hashOf(bytes)),
  });
  expect(await get(ada, id)).toMatchObject({ file_count: 0 });
  expect(await server.request(contract.listUploads, { params: { id } }, call)).toEqual({ uploads: [] });
});

test('unfinished uploads count towards the quota until they end', async () => {
  const cy = await server.signUp('Cy');
  const id = await create(cy);
  const size_bytes = 90 * MB;
  const first = (await (await start(id, { path: 'a', size_bytes }, cy)).json()) as contract.AssetUpload;
  const both = await Promise.all(['b', 'c'].map((path) => start(id, { path, size_bytes }, cy)));
  expect(both.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 413]);
  const refused = await refusalOf(await start(id, { path: 'd', size_bytes }, cy));
  expect(refused.message).toContain('This file needs 90.00 MB, and 20.00 MB of your 200.00 MB are left.');
  expect((await uploadAt(cy, id, 'e', new Uint8Array(21 * MB))).status).toBe(413);
  await server.request(contract.abandonUpload, at(id, first), { as: cy });
  expect((await start(id, { path: 'd', size_bytes }, cy)).status).toBe(200);
  await server.request(assets.deleteAsset, { params: { id } }, { as: cy });
  expect((await start(await create(cy), { path: 'a', size_bytes: 100 * MB }, cy)).status).toBe(200);
});

test('ends with its asset, and ends when its API key is revoked', async () => {
  const id = await create(ada);
  const upload = await open(id);
  await send(id, upload, 1);
  const deleted = server.request(assets.deleteAsset, { params: { id } }, call);
  await Promise.all([deleted, send(id, upload, 2)]);
  expect((await send(id, upload, 3)).status).toBe(404);
  expect((await server.send(contract.completeUpload, at(id, upload), call)).status).toBe(404);
  const { rows } = await sql`select from uploads where id = ${upload.upload_id}`.execute(db);
  expect(rows).toEqual([]);

  const other = await create(ada);
  const late = await open(other);
  const made = { params: { userId: ada.userId }, body: { name: 'program' } };
  const { api_key, secret } = await server.request(createApiKey, made, call);
  const { promise: sent, resolve: isSent } = Promise.withResolvers<void>();
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(new Uint8Array(MB)),
    // The first chunk has been sent, so the server has accepted the key before it is revoked.
    pull: () => isSent(),
  });
  const url = endpointUrl(contract.putUploadPart.path, { id: other, uploadId: late.upload_id, number: '1' });
  const answer = fetch(`${server.url}${url}?sha256=${hashOf(bytes)}`, {
    ...{ method: 'PUT', headers: { 'x-api-key': secret }, body, duplex: 'half' },
  });
  await sent;
  await server.request(revokeApiKey, { params: { keyId: api_key.id } }, call);
  const ended = (await answer).status;
  expect(ended).toBe(401);
  await server.request(assets.deleteAsset, { params: { id: other } }, call);
});

test('checks a model file like in a form, and ends the upload of an unsafe file', async () => {
  const id = await create(ada, { dataset_type: 'MODEL', title: 'Weights' });
  const content = Buffer.from('no safetensors');
  const words = { path: 'model.safetensors', size_bytes: content.length };
  const upload = await open(id, words);
  await send(id, upload, 1, content);
  const refused = await server.send(contract.completeUpload, at(id, upload), call);
  expect(refused.status).toBe(400);
  expect((await server.send(contract.completeUpload, at(id, upload), call)).status).toBe(404);
  expect(await get(ada, id)).toMatchObject({ file_count: 0 });
});

test('returns 202 during a long read, and the result to a repeated call', async () => {
  const id = await create(ada);
  const upload = await open(id);
  for (const number of [1, 2, 3]) await send(id, upload, number);
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const ctx = contextOf(ada);
  const { blobs } = ctx;
  const slow = {
    ...blobs,
    parts: {
      ...blobs.parts,
      complete: async (...input: Parameters<typeof blobs.parts.complete>) => {
        await held;
        return blobs.parts.complete(...input);
      },
    },
  };
  const ask = (answerMs: number) =>
    completeUpload(
      { ...ctx, blobs: slow },
      { ...at(id, upload), query: undefined, body: undefined },
      { checkModelFile: async () => undefined, answerMs },
    );
  expect(await ask(0)).toMatchObject({ status: 202, body: { file: null, revision_id: null } });
  const again = ask(600_000);
  letGo();
  expect(await again).toMatchObject({ file: { path: 'weights.bin' } });

  // The result is available for a week.
  const aWeekAgo = new Date(Date.now() - 8 * 24 * 60 * 60 * 1000);
  await db.updateTable('asset_uploads').set({ created_at: aWeekAgo }).execute();
  await collectBlobsJob.run(server.services, {}, new AbortController().signal);
  expect((await server.send(contract.completeUpload, at(id, upload), call)).status).toBe(404);
});
