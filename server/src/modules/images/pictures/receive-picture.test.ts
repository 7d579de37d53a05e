import { uploadPicture } from '@bakehouse/contract/pictures';
import { expect, test } from 'vitest';
import { testServer } from '../../../testing/test-server.ts';
import { pictureFiles } from '../testing/picture-files.ts';

const MEGABYTE = 1024 ** 2;
const server = await testServer({ config: { storageGb: 1 / 1024 } });
const { db } = server.services;

const countBlobs = async () => (await db.selectFrom('blobs').select('sha256').execute()).length;
/** A picture of so many bytes: what is behind its end is no part of it. */
const pictureOf = (bytes: number) =>
  Buffer.concat([pictureFiles.png, Buffer.alloc(bytes - pictureFiles.png.length)]);

test('a picture that has no room in what its sender may store never reaches the disk', async () => {
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
  // The same bytes take no more room.
  expect((await send(pictureOf(MEGABYTE))).status).toBe(201);
  expect((await send(pictureFiles.png)).status).toBe(413);
  expect(await countBlobs()).toBe(before + 1);
});
