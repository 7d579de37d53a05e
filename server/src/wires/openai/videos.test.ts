import { randomUUID } from 'node:crypto';
import { imageCalls } from '@bakehouse/contract/deployments/images';
import { toFlatId } from '@bakehouse/contract/fields/flat-id';
import OpenAI, { toFile } from 'openai';
import { beforeEach, expect, test, vi } from 'vitest';
import { insertWan } from '../../modules/deployments/testing/test-models.ts';
import { pictureFiles } from '../../modules/generations/testing/picture-files.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { testGenerations } from '../../testing/test-generations.ts';

const clock = fakeClock();
const { server, stub } = await testGenerations({ cpuPlaces: 12, clock });
const ada = await server.signUp('Ada');
const bob = await server.signUp('Bob');
const clientOf = ({ apiKey }: { apiKey: string }) =>
  new OpenAI({ apiKey, baseURL: `${server.url}/v1`, maxRetries: 0 });
const client = clientOf(ada);
const { assetId } = await insertWan(server.services, ada, 'My Video');
await server.request(
  imageCalls.wan.deploy,
  { body: { model_id: assetId, user_id: ada.userId } },
  { as: ada },
);
beforeEach(() => stub.startAnew());

const until = (id: string, status: OpenAI.Videos.Video['status']) =>
  vi.waitFor(async () => {
    const video = await client.videos.retrieve(id);
    // The clock only moves when told to. Advance it past the pause after a failure, which also lets the lease
    // of unfinished work expire.
    if (video.status === 'queued') clock.advance({ seconds: 1 });
    expect(video.status).toBe(status);
    return video;
  });

test("OpenAI's client creates a video from a prompt and a picture and downloads it with its frames", async () => {
  const asked = await client.videos.create({
    ...{ model: 'seedance', prompt: 'A loaf rises', seconds: '10' as never, size: '1080x1920' as never },
    input_reference: await toFile(pictureFiles.png, 'loaf.png', { type: 'image/png' }),
  });
  expect(asked).toMatchObject({
    ...{ id: expect.stringMatching(/^video_[0-9a-f]{32}$/), object: 'video', model: 'seedance-1-0-pro' },
    ...{ prompt: 'A loaf rises', seconds: '10', size: '1088x1920', error: null, completed_at: null },
  });
  const made = await until(asked.id, 'completed');
  expect(stub.requests.at(-1)).toMatchObject({
    ...{ prompt: 'A loaf rises', seconds: 10, width: 1088, height: 1920 },
    picture: pictureFiles.png.toString('base64'),
  });
  // Read from the file.
  expect(made).toMatchObject({ progress: 100, seconds: '3', size: '96x64', created_at: expect.any(Number) });
  expect(made.completed_at).toBeGreaterThanOrEqual(made.created_at);
  const file = Buffer.from(await (await client.videos.downloadContent(asked.id)).arrayBuffer());
  expect(file.subarray(4, 8).toString()).toBe('ftyp');
  for (const variant of ['thumbnail', 'spritesheet'] as const) {
    const picture = await client.videos.downloadContent(asked.id, { variant });
    expect(picture.headers.get('content-type')).toBe('image/webp');
    expect(
      Buffer.from(await picture.arrayBuffer())
        .subarray(8, 12)
        .toString(),
    ).toBe('WEBP');
  }
});

test('chooses the nearest duration and accepts a picture at a link', async () => {
  const image_url = `data:image/png;base64,${pictureFiles.png.toString('base64')}`;
  const { id } = await client.videos.create({
    ...{ prompt: 'A loaf rises', seconds: '4', input_reference: { image_url } },
  });
  expect(await until(id, 'completed')).toMatchObject({
    ...{ model: 'my-video', has_audio: false, served_by: { kind: 'deployment', name: 'my-video' } },
  });
  expect(stub.requests.at(-1)).toMatchObject({ seconds: 5, picture: pictureFiles.png.toString('base64') });
});

test('repeats the answer for the same idempotency key, even after the deployment has ended', async () => {
  const cy = await server.signUp('Cy');
  const { assetId: wanId } = await insertWan(server.services, cy, 'His Video');
  const body = { model_id: wanId, user_id: cy.userId };
  const { pod_id: podId } = await server.request(imageCalls.wan.deploy, { body }, { as: cy });
  const ask = () =>
    clientOf(cy).videos.create(
      { model: 'his-video', prompt: 'Rye' },
      { headers: { 'Idempotency-Key': 'once' } },
    );
  const { id } = await ask();
  await server.request(
    imageCalls.wan.terminate,
    { params: { podId }, query: { user_id: cy.userId } },
    { as: cy },
  );
  expect((await ask()).id).toBe(id);
});

test('accepts JSON with a link to a picture, with the same field names', async () => {
  const send = (body: object) =>
    fetch(`${server.url}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const image_url = `data:image/png;base64,${pictureFiles.png.toString('base64')}`;
  const answer = await send({ prompt: 'A frog spins', seconds: 3, input_reference: { image_url } });
  const { id } = (await answer.json()) as { id: string };
  expect(await until(id, 'completed')).toMatchObject({ model: 'my-video', prompt: 'A frog spins' });
  expect(stub.requests.at(-1)).toMatchObject({ seconds: 3, picture: pictureFiles.png.toString('base64') });
  for (const [body, param] of [
    [{ prompt: 'Bread', remix: 'x' }, 'remix'],
    [{ seconds: 3 }, 'prompt'],
    [{ prompt: 'Bread', input_reference: { file_id: 'file-1' } }, 'input_reference.image_url'],
    [{ prompt: 'Bread', input_reference: { image_url: 'data:image/png;base64,AAAA' } }, 'input_reference'],
    [{ prompt: 'Bread', seconds: true }, 'seconds'],
    [[], ''],
  ] as const) {
    const refused = await send(body);
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param } }]);
  }
});

test.each([
  [{ seconds: '61' as never }, 'seconds', 'seconds must be a whole number from 1 to 60'],
  [{ seconds: 'long' as never }, 'seconds', 'seconds must be a whole number from 1 to 60'],
  [{ size: '100x900' as never }, 'size', 'size must be auto, or WIDTHxHEIGHT in a shape that'],
  [{ size: 'large' as never }, 'size', 'size must be auto'],
  [{ model: 'sora-2' }, 'model', 'model must be one of veo-3.0'],
  [{ prompt: '' }, 'prompt', ''],
])('refuses %j by name at no cost', async (body, param, message) => {
  const before = stub.requests.length;
  const asked = client.videos.create({ model: 'seedance', prompt: 'Bread', ...body });
  await expect(asked).rejects.toMatchObject({
    ...{ status: 400, param },
    message: expect.stringContaining(message),
  });
  expect(stub.requests).toHaveLength(before);
});

test("lists videos in pages, newest first, and deletes them; other users' videos are hidden", async () => {
  const made: string[] = [];
  for (const prompt of ['One', 'Two', 'Three'])
    made.unshift((await client.videos.create({ model: 'my-video', prompt })).id);
  const listed: string[] = [];
  for await (const { id } of client.videos.list({ limit: 2 })) listed.push(id);
  expect(listed.slice(0, 3)).toEqual(made);
  expect((await clientOf(bob).videos.list()).data).toEqual([]);

  const [id = ''] = made;
  await expect(client.videos.downloadContent(toFlatId('video_', randomUUID()))).rejects.toMatchObject({
    status: 404,
  });
  for (const attempt of [
    () => clientOf(bob).videos.retrieve(id),
    () => clientOf(bob).videos.delete(id),
    () => clientOf(bob).videos.downloadContent(id),
    () => clientOf(bob).videos.list({ after: id }),
  ])
    await expect(attempt()).rejects.toMatchObject({ status: 404 });
  expect(await client.videos.delete(id)).toEqual({ id, object: 'video.deleted', deleted: true });
  await expect(client.videos.retrieve(id)).rejects.toMatchObject({ status: 404 });
});

test('reports why a video cannot be generated', async () => {
  stub.answer = 'error';
  const { id } = await client.videos.create({ model: 'my-video', prompt: 'Bread' });
  expect(await until(id, 'failed')).toMatchObject({
    error: { code: 'generation_failed', message: 'The picture has no end.' },
  });
});
