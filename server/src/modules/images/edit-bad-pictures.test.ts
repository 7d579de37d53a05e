import { listGenerations } from '@bakehouse/contract/generations';
import { PICTURE_BYTES_MAX } from '@bakehouse/contract/media';
import OpenAI, { toFile } from 'openai';
import { beforeAll, describe, expect, test } from 'vitest';
import { testGenerations } from '../../testing/test-generations.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { PIXEL } from '../generations/testing/image-server.ts';
import { pictureFiles } from '../generations/testing/picture-files.ts';

const setting = await testGenerations();
const { server, stub } = setting;
const address = '/v1/starters/kontext-starter';

let ada: TestUser;
let before: { balance: bigint; held: bigint };
let blobs: number;
beforeAll(async () => {
  ada = await server.signUp('Ada');
  before = await setting.balance(ada);
  blobs = await countBlobs();
});

async function countBlobs(): Promise<number> {
  return (await server.services.db.selectFrom('blobs').select('sha256').execute()).length;
}

type Answer = { status: number; json: { error: { message: string; param: string | null } } };

async function send(
  path: string,
  body: FormData | URLSearchParams | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await fetch(server.url + path, {
    ...{ method: 'POST', body },
    headers: { 'x-api-key': ada.apiKey, ...headers },
  });
  return { status: answer.status, json: (await answer.json()) as Answer['json'] };
}

/** A form with these entries, in order. */
function form(entries: Record<string, string | Buffer>): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(entries))
    body.append(name, typeof value === 'string' ? value : new Blob([new Uint8Array(value)]));
  return body;
}

/** Expects that a rejected call charged nothing, held nothing, started no generation and stored no file. */
async function expectNothing(): Promise<void> {
  expect(await setting.balance(ada)).toEqual(before);
  const { generations } = await server.request(
    listGenerations,
    { params: { userId: ada.userId }, query: {} },
    { as: ada },
  );
  expect(generations).toEqual([]);
  expect(await countBlobs()).toBe(blobs);
}

const prompt = 'Make it blue';
const { png } = pictureFiles;
/** A picture padded to one byte more than allowed. */
const tooLarge = Buffer.concat([png, Buffer.alloc(PICTURE_BYTES_MAX + 1 - png.length)]);

describe('rejects an edit at no cost and names the invalid field:', () => {
  test.each([
    ['a blank prompt', { prompt: ' ', file: png }, 400, 'prompt', 'Please enter a prompt'],
    ['no prompt', { file: png }, 400, 'prompt', 'prompt is required'],
    ['a long prompt', { prompt: 'x'.repeat(4001), file: png }, 400, 'prompt', 'at most 4000 characters'],
    ['NUL in the prompt', { prompt: 'a\0b', file: png }, 400, 'prompt', 'cannot be stored'],
    ['no picture', { prompt }, 400, 'file', 'Send the picture in a part named file'],
    ['a picture that is text', { prompt, file: 'bread' }, 400, 'file', 'part named file'],
    ['an empty picture', { prompt, file: Buffer.alloc(0) }, 400, 'file', 'PNG, JPEG or WebP'],
    ['text', { prompt, file: pictureFiles.text }, 400, 'file', 'PNG, JPEG or WebP'],
    ['SVG', { prompt, file: pictureFiles.svg }, 400, 'file', 'PNG, JPEG or WebP'],
    ['GIF', { prompt, file: pictureFiles.gif }, 400, 'file', 'PNG, JPEG or WebP'],
    ['an animation', { prompt, file: pictureFiles.animatedWebp }, 400, 'file', 'animation'],
    ['half a PNG', { prompt, file: png.subarray(0, 40) }, 400, 'file', 'damaged or incomplete'],
    ['a bomb', { prompt, file: pictureFiles.bomb }, 400, 'file', 'more than 40 megapixels'],
    ['a byte beyond 20 MB', { prompt, file: tooLarge }, 413, 'file', 'larger than 20 MB'],
    ['a file of another name', { prompt, mask: png }, 400, 'mask', 'Unknown parameter: mask'],
    ['two files', { prompt, file: png, mask: png }, 400, 'mask', 'Unknown parameter: mask'],
    ['non-numeric guidance', { prompt, guidance_scale: 'high', file: png }, 400, 'guidance_scale', ''],
    ['too much guidance', { prompt, guidance_scale: '21', file: png }, 400, 'guidance_scale', 'at most 20'],
    ['no steps', { prompt, num_inference_steps: '0', file: png }, 400, 'num_inference_steps', 'at least 1'],
    ['half a step', { prompt, num_inference_steps: '2.5', file: png }, 400, 'num_inference_steps', 'whole'],
    ['a large seed', { prompt, seed: '4294967296', file: png }, 400, 'seed', 'at most 4294967295'],
    ['another format', { prompt, return_format: 'tiff', file: png }, 400, 'return_format', 'one of url'],
    ['half a flag', { prompt, skip_integrity_check: 'maybe', file: png }, 400, 'skip_integrity_check', ''],
    ["another's id", { prompt, user_id: 'bob', file: png }, 403, 'user_id', 'another user'],
    ['invalid fields after the file', { file: png, prompt: '' }, 400, 'prompt', 'Please enter a prompt'],
  ] as const)('%s', async (_what, entries, status, param, message) => {
    const answer = await send(`${address}/edit`, form(entries));
    expect(answer).toMatchObject({ status, json: { error: { param } } });
    expect(answer.json.error.message).toContain(message);
    await expectNothing();
  });

  test.each([
    ['http://127.0.0.1/bread.png', 'public'],
    ['http://169.254.169.254/latest/meta-data/', 'public'],
    ['http://10.0.0.7/bread.png', 'public'],
    ['http://[::1]/bread.png', 'public'],
    ['file:///etc/passwd', 'public'],
    ['https://user:secret@example.com/bread.png', 'public'],
    ['http://', 'is not a valid URL'],
    ['data:image/png,bread', 'base64'],
    ['data:image/png;base64,YnJlYWQ=', 'PNG, JPEG or WebP'],
    ['data:image/png;base64,%E0%A4%A', 'PNG, JPEG or WebP'],
    ['data:', 'public'],
    [`https://example.com/${'a'.repeat(8_000)}`, 'at most 8000 characters'],
    [`data:${'a'.repeat(8_000)};base64,YnJlYWQ=`, 'at most 8000 characters'],
  ])('an address: %s', async (image_url, message) => {
    const answer = await send(`${address}/edit_url`, new URLSearchParams({ prompt, image_url }));
    expect(answer).toMatchObject({ status: 400, json: { error: { param: 'image_url' } } });
    expect(answer.json.error.message).toContain(message);
    await expectNothing();
  });

  test('a data URL of more than 20 MB', async () => {
    const image_url = `data:image/png;base64,${tooLarge.toString('base64')}`;
    expect(await send(`${address}/edit_url`, new URLSearchParams({ prompt, image_url }))).toMatchObject({
      ...{
        status: 413,
        json: { error: { param: 'image_url', message: 'The picture is larger than 20 MB' } },
      },
    });
    await expectNothing();
  });

  test('an address of this server that is not a link, or whose signature is invalid', async () => {
    const edit = (path: string) =>
      send(`${address}/edit_url`, new URLSearchParams({ prompt, image_url: server.url + path }));
    expect(await edit('/api/v1/machine')).toMatchObject({
      status: 400,
      json: { error: { param: 'image_url' } },
    });
    const link = `/api/v1/files/${'a'.repeat(64)}/x.png?disposition=inline&expires=9999999999&user=ada&signature=x`;
    expect((await edit(link)).status).toBe(403);
    await expectNothing();
  });

  test('another model, or a body of another kind', async () => {
    const model = await send('/v1/starters/paris-ddm-v1.0/edit', form({ prompt, file: png }));
    expect(model).toMatchObject({ status: 404, json: { error: { param: 'model' } } });
    const json = { 'content-type': 'application/json' };
    expect((await send(`${address}/edit`, JSON.stringify({ prompt }), json)).status).toBe(415);
    expect((await send('/api/v1/pictures', form({ file: pictureFiles.svg }))).json.error.param).toBe('file');
    await expectNothing();
  });
});

describe("OpenAI's edit call, by its own client", () => {
  const client = () => new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ada.apiKey, maxRetries: 0 });
  const image = () => toFile(pictureFiles.png, 'bread.png', { type: 'image/png' });

  test.each([
    ['quality', async () => ({ quality: 'high' as const })],
    ['background', async () => ({ background: 'transparent' as const })],
    ['size', async () => ({ size: '1536x1024' as const })],
    ['n', async () => ({ n: 2 })],
    ['output_format', async () => ({ output_format: 'webp' as const })],
    ['model', async () => ({ model: 'gpt-image-1' })],
    ['prompt', async () => ({ prompt: ' ' })],
    ['image', async () => ({ image: [await image(), await image()] })],
  ])('names %s in the error that rejects it', async (param, wrong) => {
    const body = { image: await image(), prompt, ...(await wrong()) };
    await expect(client().images.edit(body)).rejects.toMatchObject({ error: { param } });
    await expectNothing();
  });

  test('edits, and returns bytes if they are requested, else also a link', async () => {
    const inline = await client().images.edit({
      ...{ image: [await image()], prompt, model: 'kontext-starter', n: 1, size: 'auto' },
      response_format: 'b64_json',
    });
    expect(inline.data).toEqual([{ b64_json: PIXEL }]);
    const linked = await client().images.edit({ image: await image(), prompt });
    expect(linked.data?.[0]?.b64_json).toBe(PIXEL);
    expect((await fetch(linked.data?.[0]?.url ?? '')).headers.get('content-type')).toBe('image/png');
    expect(stub.requests.at(-1)).toMatchObject({ steps: 20, picture: pictureFiles.png.toString('base64') });
  });
});
