import Anthropic from '@anthropic-ai/sdk';
import { chatCompletions, listModels } from '@bakehouse/contract/chat';
import { uploadPicture } from '@bakehouse/contract/media';
import { createMessage } from '@bakehouse/contract/messages';
import { countResponseTokens } from '@bakehouse/contract/responses';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestUser } from '../../../testing/test-server.ts';
import { STARTER, starterServing } from '../../deployments/testing/starter-serving.ts';
import { stubUsage } from '../../deployments/testing/stub-model-server.ts';
import { insertModel } from '../../deployments/testing/test-models.ts';
import { pictureFiles, pngOf } from '../../generations/testing/picture-files.ts';
import { pictureRoom } from './held-pictures.ts';

const { stub, server, serving, openai, driver, nextUser, deploy, status, untilRunning, balance } =
  await starterServing();
const MODEL = 'a-seeing-model';
const toUrl = (bytes: Buffer, type = 'image/png') => `data:${type};base64,${bytes.toString('base64')}`;
const png = toUrl(pictureFiles.png);
const text = { type: 'text' as const, text: 'What is it?' };
const picture = (url: string) => ({ type: 'image_url' as const, image_url: { url } });
const chat = (content: object[], model = MODEL) => ({ model, messages: [{ role: 'user', content }] });
let user: TestUser;
let podId: string;

beforeAll(async () => {
  user = await nextUser();
  const { assetId } = await insertModel(server.services, user, 'A Seeing Model', {
    ...{ 'model.gguf': 'GGUF', 'model-mmproj-BF16.gguf': 'bf16', 'model-mmproj-F16.gguf': 'f16' },
  });
  podId = (await deploy(assetId)).pod_id;
  await untilRunning(podId);
});

beforeEach(() => {
  stub.requests.length = 0;
});

const refusal = async (body: object) => {
  const before = await balance();
  const sent = server.request(chatCompletions, { body: body as never }, { as: user });
  const error = await sent.then(
    () => null,
    (reason: { status: number; body: { error: { param: string; message: string } } }) => reason,
  );
  expect(await balance()).toEqual(before);
  expect(stub.requests).toEqual([]);
  return { status: error?.status, ...error?.body.error };
};

describe('a model with a projector', () => {
  it('is served with the projector in 16 bits, and says that it sees', async () => {
    const specs = driver.running().map(({ spec }) => spec);
    expect(specs).toContainEqual(
      expect.objectContaining({ model_file: 'model.gguf', projector_file: 'model-mmproj-F16.gguf' }),
    );
    expect(await status(podId)).toMatchObject({ vision: true });
    const { data } = await server.request(listModels, {}, { as: user });
    const vision = Object.fromEntries(data.map((model) => [model.id, model.vision]));
    expect(vision).toMatchObject({ [MODEL]: true, [STARTER]: false });
  });

  it("gets pictures of OpenAI's and Anthropic's unmodified clients, and charges the model server's count", async () => {
    await openai(user).chat.completions.create({
      model: MODEL,
      messages: [{ role: 'user', content: [text, picture(png)] }],
    });
    await openai(user).responses.create({
      model: MODEL,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: text.text },
            { type: 'input_image', image_url: png, detail: 'auto' },
          ],
        },
      ],
    });
    const anthropic = new Anthropic({ baseURL: server.url, apiKey: user.apiKey, maxRetries: 0 });
    const data = pictureFiles.png.toString('base64');
    await anthropic.messages.create({
      ...{ model: MODEL, max_tokens: 9 },
      messages: [
        {
          role: 'user',
          content: [text, { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }],
        },
      ],
    });
    const messages = [{ role: 'user', content: [text, picture(png)] }];
    expect(stub.requests).toMatchObject([{ messages }, { messages }, { messages }]);
    const { prompt_tokens } = stubUsage;
    const charged = { ok: true, prompt_tokens, cost_micro: expect.any(BigInt) };
    await vi.waitFor(async () =>
      expect(await serving.requests(user)).toMatchObject([charged, charged, charged]),
    );
  });

  it('reads an uploaded picture by its link', async () => {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(pictureFiles.png)]), 'loaf.png');
    const response = await fetch(server.url + uploadPicture.path, {
      method: 'POST',
      headers: { 'x-api-key': user.apiKey },
      body: form,
    });
    const { url } = (await response.json()) as { url: string };
    await server.request(chatCompletions, { body: chat([picture(url)]) as never }, { as: user });
    expect(stub.requests).toMatchObject([{ messages: [{ content: [picture(png)] }] }]);
  });

  it('continues a stored response with its picture', async () => {
    const content = [{ type: 'input_image' as const, image_url: png, detail: 'auto' as const }];
    const { responses } = openai(user);
    const { id } = await responses.create({ model: MODEL, input: [{ role: 'user', content }] });
    await responses.create({ model: MODEL, input: 'And now?', previous_response_id: id });
    expect(stub.requests.at(-1)).toMatchObject({ messages: [{ content: [picture(png)] }, {}, {}] });
  });
});

it('says that a starter model sees, once its server has a projector', async () => {
  const { db } = server.services;
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  await server.request(chatCompletions, { body: { model: STARTER, messages } }, { as: user });
  const setFiles = (files: string) =>
    sql`update model_servers set base_files = ${files}::jsonb where starter_name = ${STARTER}`.execute(db);
  const { rows } = await sql<{ files: string }>`select base_files::text as files from model_servers
    where starter_name = ${STARTER}`.execute(db);
  const [before] = rows;
  await setFiles(JSON.stringify([...JSON.parse(before?.files ?? '[]'), { path: 'a.mmproj-f16.gguf' }]));
  const { data } = await server.request(listModels, {}, { as: user });
  await setFiles(before?.files ?? '[]');
  expect(data).toContainEqual(expect.objectContaining({ id: STARTER, vision: true }));
});

it('refuses pictures, for which there is no room, before it reads them', async () => {
  const room = pictureRoom(user.userId);
  room.take(40 * 1024 ** 2);
  const content = [{ type: 'input_image' as const, image_url: 'http://127.0.0.1/a.png' }];
  const input = [{ role: 'user' as const, content }];
  const limited = { status: 429 };
  expect(await refusal(chat([picture('http://127.0.0.1/a.png')]))).toMatchObject(limited);
  await expect(
    server.request(countResponseTokens, { body: { model: MODEL, input } }, { as: user }),
  ).rejects.toMatchObject(limited);
  room.take(48 * 1024 ** 2);
  expect(await refusal(chat([{ ...text, text: 'a'.repeat(1024 ** 2) }]))).toMatchObject(limited);
  room.leave();
});

it('names the remedy for a photo that is too large to be stored', async () => {
  const photo = toUrl(Buffer.concat([pictureFiles.png, Buffer.alloc(1024 ** 2)]));
  const content = [{ type: 'input_image' as const, image_url: photo, detail: 'auto' as const }];
  const asked = { model: MODEL, input: [{ role: 'user' as const, content }] };
  await expect(openai(user).responses.create(asked)).rejects.toMatchObject({
    ...{ status: 400, param: 'input', message: expect.stringContaining('or set store to false') },
  });
  const answered = await openai(user).responses.create({ ...asked, store: false });
  expect(answered.status).toBe('completed');
});

describe('refuses without a charge', () => {
  it.each([
    ['a model that cannot see', chat([text, picture(png)], STARTER), 'messages.0.content.1', 'cannot see'],
    ['text as a picture', chat([picture('data:image/png;base64,aGk=')]), 'messages.0.content.0', 'PNG, JPEG'],
    [
      'a format that llama.cpp does not read',
      chat([picture(toUrl(pictureFiles.webp, 'image/webp'))]),
      'messages.0.content.0',
      'not WebP',
    ],
    ['an address in this network', chat([picture('http://127.0.0.1/a.png')]), 'messages.0.content.0', ''],
    ['too many', chat(Array.from({ length: 17 }, () => picture(png))), 'messages', 'at most 16 pictures'],
    [
      'too many pixels together',
      chat([picture(toUrl(pngOf(8000, 4000))), picture(toUrl(pngOf(8000, 4000)))]),
      'messages.0.content.1',
      '40 megapixels',
    ],
    [
      'more than 1 MB of text',
      chat([{ ...text, text: 'a'.repeat(1024 * 1024) }]),
      'messages',
      '1 MB of text',
    ],
    [
      'a picture of the model',
      { model: MODEL, messages: [{ role: 'assistant', content: [picture(png)] }] },
      'messages.0.content.0',
      'Only user messages',
    ],
  ])('%s', async (_case, body, param, message) => {
    const refused = await refusal(body);
    expect(refused).toMatchObject({ param, message: expect.stringContaining(message) });
    expect([400, 413]).toContain(refused.status);
  });

  it("a picture, with the field of Anthropic's body", async () => {
    const content = [
      { type: 'text' as const, text: 'What is it?' },
      { type: 'image' as const, source: { type: 'url' as const, url: png } },
    ];
    const body = { model: STARTER, max_tokens: 9, messages: [{ role: 'user' as const, content }] };
    await expect(server.request(createMessage, { body }, { as: user })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('messages.0.content.1: starter-model cannot see pictures'),
    });
  });
});
