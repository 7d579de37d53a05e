import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import { createApiKey, revokeApiKey } from '@bakehouse/contract/api-keys';
import * as contract from '@bakehouse/contract/assets';
import multipart from '@fastify/multipart';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../../platform/db/in-transaction.ts';
import { storeBlob } from '../../../../platform/storage/store-blob.ts';
import { type TestServer, type TestUser, testServer } from '../../../../testing/test-server.ts';
import { checkModelFile } from '../../../models/weights/check-model-file.ts';
import { createAsset } from '../../assets.ts';
import { putFiles } from '../../revisions/commit-files.ts';
import { uploadFile } from './upload-file.ts';

const MB = 1024 * 1024;

let server: TestServer;
let ada: TestUser;

beforeAll(async () => {
  server = await testServer({ config: { storageGb: 1 / 1024 } });
  ada = await server.signUp('Ada');
});

function contextOf(user: TestUser) {
  return {
    ...server.services,
    caller: { kind: 'user' as const, userId: user.userId, isOperator: false },
    requestId: 'test',
    idempotencyKey: null,
  };
}

function create(user: TestUser): Promise<string> {
  const words = { dataset_type: 'RAW', title: 'Facts', user_id: user.userId };
  return createAsset(contextOf(user), contract.assetCreatePayload.parse(words));
}

/** Uploads a file of one repeated character; without its size if streamed. */
async function upload(user: TestUser, id: string, mark: string, bytes: number, isStreamed = false) {
  const form = new FormData();
  form.append('data_file', new Blob([mark.repeat(bytes)]), `${mark}.txt`);
  const encoded = new Response(form);
  const headers = { 'x-api-key': user.apiKey, 'content-type': encoded.headers.get('content-type') ?? '' };
  const response = await fetch(`${server.url}/api/v1/asset/${id}/upload`, {
    method: 'POST',
    headers,
    body: isStreamed ? encoded.body : await encoded.arrayBuffer(),
    duplex: 'half',
  });
  const answer = (await response.json()) as { error?: { message: string } };
  return { status: response.status, message: answer.error?.message ?? null };
}

async function storedFiles(): Promise<string[]> {
  const folder = path.join(server.services.config.dataDir, 'blobs');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

describe('the storage of a user', () => {
  test('is limited, with an error that contains the needed and remaining size, and leaves nothing', async () => {
    const [first, second] = [await create(ada), await create(ada)];
    expect(await upload(ada, first, 'a', 500 * 1024)).toMatchObject({ status: 200 });
    const before = await storedFiles();
    expect(await upload(ada, first, 'b', 700 * 1024)).toEqual({
      status: 413,
      message:
        'This file needs 636.18 KB, and 524.00 KB of your 1.00 MB are left. Delete datasets or models that you no longer need. Earlier versions of a file count until its dataset or model is deleted.',
    });
    expect(await upload(ada, first, 'b', 540 * 1024, true)).toEqual({
      status: 413,
      message:
        'This file needs more than 524.00 KB, and 524.00 KB of your 1.00 MB are left. Delete datasets or models that you no longer need. Earlier versions of a file count until its dataset or model is deleted.',
    });
    expect(await storedFiles()).toEqual(before);

    // Identical bytes count once, so 324 kB are left. Each of the next two files fits alone, but not both.
    for (const id of [first, second]) {
      expect(await upload(ada, id, 'c', 200 * 1024)).toMatchObject({ status: 200 });
    }
    const both = await Promise.all(['d', 'e'].map((mark) => upload(ada, second, mark, 250 * 1024)));
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 413]);
    const bob = await server.signUp('Bob');
    expect(await upload(bob, await create(bob), 'a', 700 * 1024)).toMatchObject({ status: 200 });

    await server.send(contract.deleteAsset, { params: { id: first } }, { as: ada });
    expect(await upload(ada, second, 'f', 500 * 1024)).toMatchObject({ status: 200 });
  });

  test('is also limited for files chosen by a call, with an error for its field', async () => {
    const dan = await server.signUp('Dan');
    const assetId = await create(dan);
    const store = (size: number) => storeBlob(server.services, Readable.from([Buffer.alloc(size)]));
    const put = async (sizes: number[]) => {
      const blobs = await Promise.all(sizes.map(store));
      const files = blobs.map((blob, index) => ({ path: `zeros ${index}`, ...blob }));
      return inTransaction(server.services.db, (tx) =>
        putFiles(tx, server.services.config, {
          ...{ assetId, userId: dan.userId, revisionId: null, param: 'ids' },
          files,
        }),
      );
    };
    const refused = { code: 'payload_too_large', param: 'ids' };
    await expect(put([2 * MB])).rejects.toMatchObject(refused);
    // Each file would fit alone.
    const both = { ...refused, publicMessage: expect.stringMatching(/^These files need 1\.21 MB/) };
    await expect(put([0.6 * MB, 0.61 * MB].map(Math.round))).rejects.toMatchObject(both);
    // Identical bytes count once.
    await put([0.6 * MB, 0.6 * MB].map(Math.round));
  });

  test('does not allow a path to be both a file and a folder', async () => {
    const hal = await server.signUp('Hal');
    const assetId = await create(hal);
    const blob = await storeBlob(server.services, Readable.from([Buffer.from('a')]));
    const put = (revisionId: string | null, at: string) =>
      inTransaction(server.services.db, (tx) =>
        putFiles(tx, server.services.config, {
          ...{ assetId, userId: hal.userId, revisionId, param: 'ids' },
          files: [{ path: at, ...blob }],
        }),
      );
    const revisionId = await put(null, 'a/b');
    const clash = { code: 'conflict', param: 'ids' };
    await expect(put(revisionId, 'a')).rejects.toMatchObject(clash);
    await expect(put(revisionId, 'a/b/c')).rejects.toMatchObject(clash);
  });

  test('counts files of earlier revisions', async () => {
    const cy = await server.signUp('Cy');
    const id = await create(cy);
    expect(await upload(cy, id, 'a', 700 * 1024)).toMatchObject({ status: 200 });
    const remove = { params: { id }, body: { file_path: 'a.txt' } };
    await server.request(contract.deleteFile, remove, { as: cy });
    const refused = await upload(cy, id, 'b', 700 * 1024);
    expect(refused).toMatchObject({ status: 413, message: expect.stringContaining('Earlier versions') });
    // As the error suggests.
    await server.send(contract.deleteAsset, { params: { id } }, { as: cy });
    expect(await upload(cy, await create(cy), 'b', 700 * 1024)).toMatchObject({ status: 200 });
  });
});

const head = '--cut\r\ncontent-disposition: form-data; name="data_file"; filename="a.txt"\r\n\r\n';

test('an upload ends with its API key and leaves nothing', async () => {
  const eve = await server.signUp('Eve');
  const id = await create(eve);
  const made = { params: { userId: eve.userId }, body: { name: 'program' } };
  const { api_key, secret } = await server.request(createApiKey, made, { as: eve });
  const before = await storedFiles();
  const request = http.request(`${server.url}/api/v1/asset/${id}/upload`, {
    method: 'POST',
    headers: { 'x-api-key': secret, 'content-type': 'multipart/form-data; boundary=cut' },
  });
  request.on('error', () => undefined);
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  request.write(head);
  const coming = setInterval(() => request.write('some text'), 20);
  // The key has authenticated the call.
  const lastUsed = () =>
    server.services.db.selectFrom('api_keys').select('last_used_at').where('id', '=', api_key.id).execute();
  await expect.poll(lastUsed).not.toEqual([{ last_used_at: null }]);
  await server.request(revokeApiKey, { params: { keyId: api_key.id } }, { as: eve });
  const [answer] = await answered;
  clearInterval(coming);
  request.destroy();
  expect(answer.statusCode).toBe(401);
  await expect.poll(storedFiles).toEqual(before);
});

test("limits one user's concurrent uploads without affecting other users", async () => {
  const [flo, gus] = [await server.signUp('Flo'), await server.signUp('Gus')];
  const id = await create(flo);
  const url = `${server.url}/api/v1/asset/${id}/upload`;
  const headers = { 'x-api-key': flo.apiKey, 'content-type': 'multipart/form-data; boundary=cut' };
  const before = await storedFiles();
  const open = Array.from({ length: 16 }, () => {
    const request = http.request(url, { method: 'POST', headers });
    request.on('error', () => undefined);
    request.write(`${head}${'some text'.repeat(1000)}`);
    return request;
  });
  await expect.poll(async () => (await storedFiles()).length).toBe(before.length + 16);
  expect(await upload(flo, id, 'a', 10)).toEqual({
    status: 429,
    message: 'At most 16 uploads per user can be in progress. Try again when one has ended',
  });
  expect(await upload(gus, await create(gus), 'a', 10)).toMatchObject({ status: 200 });
  for (const request of open) request.destroy();
  await expect.poll(() => upload(flo, id, 'a', 10)).toMatchObject({ status: 200 });
});

describe('a stalled upload', () => {
  const app = Fastify();
  let dave: TestUser;
  beforeAll(async () => {
    dave = await server.signUp('Dave');
    await app.register(multipart);
    app.post<{ Params: { id: string } }>('/:id', (request) =>
      uploadFile(contextOf(dave), { assetId: request.params.id, request, checkModelFile, stallMs: 200 }),
    );
    await app.listen({ port: 0 });
  });
  afterAll(() => app.close());

  test.each([
    ['before its file', ''],
    ['inside its file', `${head}some text`],
    ['after its file', `${head}some text\r\n--cut\r\n`],
  ])('is aborted %s and leaves nothing', async (_where, sent) => {
    const id = await create(dave);
    const before = await storedFiles();
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    const isClosed = new Promise((resolve) => socket.on('close', () => resolve(true)));
    socket.on('error', () => undefined);
    socket.write(
      `POST /${id} HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=cut\r\ncontent-length: ${MB}\r\n\r\n${sent}`,
    );
    expect(await isClosed).toBe(true);
    await expect.poll(storedFiles).toEqual(before);
  });
});
