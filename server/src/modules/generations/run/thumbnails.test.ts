import { deleteGeneration, startGeneration } from '@bakehouse/contract/generations';
import sharp from 'sharp';
import { beforeEach, expect, test, vi } from 'vitest';
import { unavailable } from '../../../platform/errors.ts';
import { testGenerations } from '../../../testing/test-generations.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { ensureThumbnail, makeThumbnailJob } from '../sources/pictures.ts';
import { pngOf } from '../testing/picture-files.ts';

const setting = await testGenerations();
const { server, stub } = setting;
const { db } = server.services;

const crust = { r: 200, g: 120, b: 40 };
const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: crust } });

let ada: TestUser;
beforeEach(async () => {
  ada = await server.signUp('Ada');
});

const owned = async () =>
  (
    await db
      .selectFrom('blob_owners')
      .select(['sha256', 'size_bytes'])
      .where('owner_id', '=', ada.userId)
      .execute()
  ).length;
const look = async (url: string | undefined) => {
  const answer = await fetch(new URL(url ?? '', server.url));
  expect(answer.headers.get('content-type')).toBe('image/webp');
  const { format, width, height } = await sharp(await answer.arrayBuffer()).metadata();
  return { format, width, height };
};

test('a large picture has a thumbnail, which is deleted with it', async () => {
  const content = (await picture(1200, 900).png().toBuffer()).toString('base64');
  stub.picture = { content, width: 1200, height: 900 };
  const { id } = await setting.generate(ada);
  const [output] = (await setting.until(ada, id, 'completed')).outputs;
  expect(await look(output?.thumbnail_url)).toEqual({ format: 'webp', width: 512, height: 384 });
  expect(output?.url).not.toBe(output?.thumbnail_url);
  expect(await owned()).toBe(2);
  await server.request(deleteGeneration, { params: { id } }, { as: ada });
  expect(await owned()).toBe(0);
});

test('a small picture is its own thumbnail', async () => {
  const content = (await picture(512, 512).png().toBuffer()).toString('base64');
  stub.picture = { content, width: 512, height: 512 };
  const { id } = await setting.generate(ada);
  const [output] = (await setting.until(ada, id, 'completed')).outputs;
  expect(output?.thumbnail_url).toBe(output?.url);
  expect(await owned()).toBe(1);
});

test('the thumbnail of a rotated photo is upright, and an edit of the photo has a thumbnail too', async () => {
  const photo = await picture(1600, 800).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(photo)]), 'bread.jpg');
  const headers = { 'x-api-key': ada.apiKey };
  const sent = await fetch(`${server.url}/api/v1/pictures`, { method: 'POST', headers, body });
  const { id: picture_id } = (await sent.json()) as { id: string };
  const edit = { generator: 'flux-kontext' as const, prompt: 'Make it blue', picture_id };
  const { id } = await server.request(startGeneration, { body: edit }, { as: ada });
  const { source } = await setting.until(ada, id, 'completed');
  expect(await look(source?.thumbnail_url)).toEqual({ format: 'webp', width: 256, height: 512 });
});

test('a picture that cannot be decoded has no thumbnail and is linked directly', async () => {
  // The file has only its first rows of pixels.
  const content = pngOf(1000, 1000).toString('base64');
  stub.picture = { content, width: 1000, height: 1000 };
  const { id } = await setting.generate(ada);
  const [output] = (await setting.until(ada, id, 'completed')).outputs;
  expect(output?.thumbnail_url).toBe(output?.url);
  const missing = { sha256: 'f'.repeat(64), width: 1000, height: 1000 };
  expect(await ensureThumbnail(server.services, missing, ada.userId)).toBeNull();
});

test('makes a thumbnail later if the machine is busy', async () => {
  const content = (await picture(1000, 1000).png().toBuffer()).toString('base64');
  stub.picture = { content, width: 1000, height: 1000 };
  const { services } = server;
  const enclose = vi.spyOn(services.sandbox, 'enclose').mockRejectedValue(unavailable('Busy'));
  const { id } = await setting.generate(ada);
  const before = (await setting.until(ada, id, 'completed')).outputs[0];
  expect(before?.thumbnail_url).toBe(before?.url);
  enclose.mockRestore();
  const { sha256 } = await db
    .selectFrom('generation_outputs')
    .select('sha256')
    .where('user_id', '=', ada.userId)
    .executeTakeFirstOrThrow();
  const data = { sha256, width: 1000, height: 1000, userId: ada.userId };
  // The server's own worker may have run the job already.
  await makeThumbnailJob.run(services, data, new AbortController().signal).catch(() => undefined);
  const after = (await setting.until(ada, id, 'completed')).outputs[0];
  expect(await look(after?.thumbnail_url)).toMatchObject({ width: 512, height: 512 });
  expect(await owned()).toBe(2);
  await server.request(deleteGeneration, { params: { id } }, { as: ada });
  expect(await owned()).toBe(0);
});
