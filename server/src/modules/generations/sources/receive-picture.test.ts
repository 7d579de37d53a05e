import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createApiKey, revokeApiKey } from '@bakehouse/contract/api-keys';
import { uploadPicture } from '@bakehouse/contract/media';
import multipart from '@fastify/multipart';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limitBufferedBodies } from '../../../platform/http/bodies/body-limits.ts';
import { testServer } from '../../../testing/test-server.ts';
import { receivePicture } from '../../media/receive-picture.ts';
import { pictureFiles } from '../testing/picture-files.ts';

const MEGABYTE = 1024 ** 2;
const server = await testServer({ config: { storageGb: 1 / 1024 } });
const { db } = server.services;

const countBlobs = async () => (await db.selectFrom('blobs').select('sha256').execute()).length;
/** A picture padded to this size: bytes after its end are ignored. */
const pictureOf = (bytes: number) =>
  Buffer.concat([pictureFiles.png, Buffer.alloc(bytes - pictureFiles.png.length)]);

test("a picture beyond its sender's quota never reaches the disk", async () => {
  const ada = await server.signUp('Ada');
  const before = await countBlobs();
  const send = async (bytes: Buffer) => {
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(bytes)]), 'bread.png');
    const answer = await fetch(server.url + uploadPicture.path, {
      ...{ method: 'POST', body },
      headers: { 'x-api-key': ada.apiKey },
    });
    return { status: answer.status, json: await answer.json() };
  };
  expect(await send(pictureOf(MEGABYTE + 1))).toMatchObject({
    status: 413,
    json: { error: { param: 'file', message: expect.stringContaining('1.00 MB of your 1.00 MB are left') } },
  });
  expect(await countBlobs()).toBe(before);
  expect((await send(pictureOf(MEGABYTE))).status).toBe(201);
  // The same bytes use no additional space.
  expect((await send(pictureOf(MEGABYTE))).status).toBe(201);
  expect((await send(pictureFiles.png)).status).toBe(413);
  expect(await countBlobs()).toBe(before + 1);
});

const inField = '--cut\r\ncontent-disposition: form-data; name="prompt"\r\n\r\n';
const inFile = '--cut\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n';

test.each([
  ['in a field', inField],
  ['in the picture', inFile],
])('ends a call immediately if its key is revoked during the upload: %s', async (_where, head) => {
  const eve = await server.signUp('Eve');
  const made = { params: { userId: eve.userId }, body: { name: 'program' } };
  const { api_key, secret } = await server.request(createApiKey, made, { as: eve });
  const request = http.request(server.url + uploadPicture.path, {
    method: 'POST',
    headers: { 'x-api-key': secret, 'content-type': 'multipart/form-data; boundary=cut' },
  });
  request.on('error', () => undefined);
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  request.write(head);
  const coming = setInterval(() => request.write('x'), 20);
  // Wait until the call is authenticated.
  const lastUsed = () =>
    db.selectFrom('api_keys').select('last_used_at').where('id', '=', api_key.id).execute();
  await expect.poll(lastUsed).not.toEqual([{ last_used_at: null }]);
  await server.request(revokeApiKey, { params: { keyId: api_key.id } }, { as: eve });
  const [answer] = await answered;
  clearInterval(coming);
  request.destroy();
  expect(answer.statusCode).toBe(401);
});

describe('receiving a picture', () => {
  const app = Fastify();
  beforeAll(async () => {
    await app.register(multipart);
    limitBufferedBodies(app);
    const dave = await server.signUp('Dave');
    const caller = { kind: 'user' as const, userId: dave.userId, isOperator: false };
    const ctx = { ...server.services, caller, requestId: 'test', idempotencyKey: null };
    const answer = async ({ bytes }: { bytes: Buffer }) => bytes.length;
    app.post('/', (request) => receivePicture(ctx, request, 'file', answer, { stallMs: 200, wholeMs: 600 }));
    // The response takes longer than the limits, which apply only to receiving the picture. They are long
    // enough to receive it on a busy machine.
    const answerLate = ({ bytes }: { bytes: Buffer }) =>
      new Promise((resolve) => setTimeout(() => resolve(bytes.length), 3_000));
    app.post('/late', (request) =>
      receivePicture(ctx, request, 'file', answerLate, { stallMs: 2_500, wholeMs: 2_500 }),
    );
    await app.listen({ port: 0 });
  });
  afterAll(() => app.close());

  test.each([
    ['no further bytes', inFile, null],
    ['a few bytes', inFile, 50],
    ['a few bytes after a rejection', inFile.replace('"file"', '"mask"'), 50],
  ])('closes a connection that sends %s', async (_what, head, everyMs) => {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    const isClosed = new Promise((resolve) => socket.on('close', () => resolve(true)));
    socket.write(
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=cut\r\ncontent-length: ${MEGABYTE}\r\n\r\n${head}`,
    );
    const coming = everyMs === null ? undefined : setInterval(() => socket.write('x'), everyMs);
    expect(await isClosed).toBe(true);
    clearInterval(coming);
  });

  test('a picture that has arrived may wait for its response however long that takes', async () => {
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(pictureFiles.png)]), 'bread.png');
    const { port } = app.server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/late`, { method: 'POST', body });
    expect(await answer.json()).toBe(pictureFiles.png.length);
  });
});
