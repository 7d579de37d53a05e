import { PROMPT_LENGTH_MAX, startGeneration } from '@bakehouse/contract/generations';
import sharp from 'sharp';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LeaseLoop } from '../../../platform/leases/lease-loop.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { readMetadata } from '../testing/read-metadata.ts';
import { serviceGenerations } from '../testing/service-generations.ts';

/* Tests how this server stores the pictures that services return. */
const setting = await serviceGenerations();
const { server, upstream } = setting;
const canvas = sharp({ create: { width: 12, height: 8, channels: 3, background: '#c87828' } });
const prompt = 'Brötchen 麺 '.repeat(PROMPT_LENGTH_MAX).slice(0, PROMPT_LENGTH_MAX);

let ada: TestUser;
let loop: LeaseLoop;
afterEach(() => loop.stop());
beforeEach(async () => {
  loop = setting.startGenerationLoop();
  ada = await setting.begin();
});

/** Generates two pictures at a service that returns this file twice. */
async function generate(file: Buffer) {
  upstream.state.file = file;
  const body = {
    generator: 'qwen-image' as const,
    prompt,
    parameters: { n: 2, negative_prompt: '麺', seed: 7 },
  };
  const { id } = await server.request(startGeneration, { body }, { as: ada });
  const { outputs, model, parameters } = await setting.untilEnded(id);
  const files = outputs.map(async ({ url }) =>
    Buffer.from(await (await fetch(new URL(url, server.url))).arrayBuffer()),
  );
  return { id, model, parameters, files: await Promise.all(files) };
}

test.each(['png', 'jpeg', 'webp'] as const)(
  'each %s file contains all parameters of its generation',
  async (format) => {
    const sent = await canvas.toFormat(format).toBuffer();
    const { id, model, parameters, files } = await generate(sent);
    expect(files).toHaveLength(2);
    for (const file of files) {
      expect(await readMetadata(file)).toEqual({
        ...{ prompt, model, generation_id: id },
        ...Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)])),
      });
      expect(await sharp(file).raw().toBuffer()).toEqual(await sharp(sent).raw().toBuffer());
    }
    expect(parameters).toMatchObject({ negative_prompt: '麺', seed: 7, n: 2 });
  },
);

test('stores a file unchanged if metadata cannot be embedded', async () => {
  const jpeg = await canvas.jpeg().toBuffer();
  const damaged = Buffer.from('\xff\xe1\0\x12Exif\0\0MM\0*\0\0\xff\xff\0\0', 'latin1');
  const sent = Buffer.concat([jpeg.subarray(0, 2), damaged, jpeg.subarray(2)]);
  expect((await generate(sent)).files).toEqual([sent, sent]);
});
