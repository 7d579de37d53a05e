import { startGeneration } from '@bakehouse/contract/generations';
import OpenAI, { toFile } from 'openai';
import { beforeEach, describe, expect, test } from 'vitest';
import { testGenerations } from '../../testing/test-generations.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { pictureFiles, pngOf } from '../generations/testing/picture-files.ts';

const setting = await testGenerations();
const { server, stub } = setting;
const { db } = server.services;
/** Its bytes differ from the picture's. */
const mask = Buffer.concat([pictureFiles.png, Buffer.from(' ')]);

let ada: TestUser;
beforeEach(async () => {
  stub.startAnew();
  ada = await server.signUp('Ada');
});

const upload = async (file: Buffer, as = ada) => {
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(file)]), 'picture.png');
  const init = { method: 'POST', body, headers: { 'x-api-key': as.apiKey } };
  const { id } = (await (await fetch(`${server.url}/api/v1/pictures`, init)).json()) as { id: string };
  return id;
};
const edit = (input: object, parameters = {}) =>
  server.request(
    startGeneration,
    { body: { generator: 'flux-kontext', prompt: 'Make it blue', parameters, ...input } },
    { as: ada },
  );
const refusal = (input: object) =>
  edit(input).catch(({ status, body }) => ({ status, ...body.error }) as object);

describe('an edit with a mask', () => {
  test('sends both files to the model, costs the same, and keeps the mask with the edit', async () => {
    const [picture_id, mask_id] = [await upload(pictureFiles.png), await upload(mask)];
    const plain = await edit({ picture_id });
    const { id, cost } = await edit({ picture_id, mask_id });
    expect([cost, plain.source?.mask_url]).toEqual([plain.cost, null]);
    const { source } = await setting.until(ada, id, 'completed');
    expect(stub.requests.at(-1)).toMatchObject({
      picture: pictureFiles.png.toString('base64'),
      mask: mask.toString('base64'),
    });
    const kept = await fetch(new URL(source?.mask_url ?? '', server.url));
    expect(Buffer.from(await kept.arrayBuffer())).toEqual(mask);
    const rows = db.selectFrom('input_pictures').select('role').where('generation_id', '=', id);
    expect((await rows.orderBy('role').execute()).map(({ role }) => role)).toEqual(['mask', 'source']);
  });

  test('accepts the sides of a picture that was taken in portrait', async () => {
    const input = { picture_id: await upload(pngOf(6, 4)), mask_id: await upload(pngOf(4, 6)) };
    expect((await edit(input)).source?.mask_url).toContain('mask.png');
  });

  test.each([
    ['of another size', async () => upload(pngOf(5, 4)), 400, 'of the picture, 6 x 4 pixels'],
    ['of another user', async () => upload(mask, await server.signUp('Bob')), 404, 'No picture has this id'],
  ])('%s is rejected', async (_what, sent, status, message) => {
    const input = { picture_id: await upload(pictureFiles.png), mask_id: await sent() };
    expect(await refusal(input)).toMatchObject({
      ...{ status, param: 'mask_id', message: expect.stringContaining(message) },
    });
  });

  test('is rejected by a generator without masks', async () => {
    const input = { generator: 'paris', mask_id: await upload(mask) };
    expect(await refusal(input)).toMatchObject({ status: 400, param: 'mask_id' });
  });
});

describe("OpenAI's edit call with a mask, by its own client", () => {
  const file = (bytes: Buffer) => toFile(bytes, 'picture.png', { type: 'image/png' });
  const client = () => new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ada.apiKey, maxRetries: 0 });

  test('sends it to the model', async () => {
    const image = await file(pictureFiles.png);
    await client().images.edit({ prompt: 'Make it blue', image, mask: await file(mask) });
    await client().images.edit({ prompt: 'Make it blue', image });
    expect(stub.requests.map((request) => 'mask' in request && request.mask)).toEqual([
      mask.toString('base64'),
      false,
    ]);
  });

  test('of another size is rejected by its field', async () => {
    const image = await file(pictureFiles.png);
    const refused = client().images.edit({ prompt: 'Make it blue', image, mask: await file(pngOf(4, 4)) });
    await expect(refused).rejects.toMatchObject({ status: 400, error: { param: 'mask' } });
  });

  test('is a different request with another mask, for the same idempotency key', async () => {
    const image = await file(pictureFiles.png);
    const ask = async (bytes: Buffer) =>
      client().images.edit(
        { prompt: 'Make it blue', image, mask: await file(bytes) },
        { headers: { 'Idempotency-Key': 'one' } },
      );
    await ask(mask);
    await ask(mask);
    expect(stub.requests).toHaveLength(1);
    await expect(ask(pictureFiles.png)).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });
});

describe('the strength and the negative prompt of an edit', () => {
  test('reach the model, and are shown', async () => {
    const parameters = { strength: 0.5, negative_prompt: 'grass' };
    const { id } = await edit({ picture_id: await upload(pictureFiles.png) }, parameters);
    expect((await setting.until(ada, id, 'completed')).parameters).toMatchObject(parameters);
    expect(stub.requests.at(-1)).toMatchObject(parameters);
  });

  test.each([
    ['strength', { strength: 0.05 }],
    ['strength', { strength: 1.5 }],
    ['negative_prompt', { negative_prompt: 3 }],
  ])('reject an invalid %s', async (name, parameters) => {
    const input = { picture_id: await upload(pictureFiles.png), parameters };
    expect(await refusal(input)).toMatchObject({ status: 400, param: `parameters.${name}` });
  });
});

describe('a model server that started before an upgrade', () => {
  test.each([
    ['mask', async () => ({ mask_id: await upload(mask) })],
    ['strength', async () => ({ parameters: { strength: 0.5 } })],
    ['negative prompt', async () => ({ parameters: { negative_prompt: 'grass' } })],
  ])('gets no edit with a %s, which fails and is free', async (_what, change) => {
    stub.isOld = true;
    const before = await setting.balance(ada);
    const { id } = await edit({ picture_id: await upload(pictureFiles.png), ...(await change()) });
    const { reason } = await setting.until(ada, id, 'failed');
    expect(reason).toMatch(/^The server of .+ started before an upgrade and accepts no mask/);
    expect([stub.requests, await setting.balance(ada)]).toEqual([[], before]);
  });

  test('gets other edits', async () => {
    stub.isOld = true;
    const { id } = await edit({ picture_id: await upload(pictureFiles.png) });
    await setting.until(ada, id, 'completed');
    expect(stub.requests).toHaveLength(1);
  });
});
