import { randomUUID } from 'node:crypto';
import OpenAI, { toFile } from 'openai';
import { beforeEach, expect, test } from 'vitest';
import { testGenerations } from '../../testing/test-generations.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { pictureFiles } from '../generations/testing/picture-files.ts';

/* Tests edits of a user all of whose credits are held by idle usage windows. */

const setting = await testGenerations();
const { server, stub } = setting;
const starter = `${server.url}/v1/starters/kontext-starter`;

let ada: TestUser;
let owned: bigint;
beforeEach(async () => {
  stub.requests.length = 0;
  ada = await server.signUp('Ada');
  owned = (await setting.balance(ada)).balance;
  const place = await server.app.usage.reserve({
    ...{ userId: ada.userId, keyId: null, use: 'llm_inference', source: 'model:crumb' },
    ...{ description: 'Tokens of crumb', references: { asset_name: 'crumb' } },
    ...{ unitPrices: [1n], priceMicro: owned },
  });
  place.settle({ id: randomUUID(), at: new Date(), amountMicro: 1n, quantities: {} });
  expect(await setting.balance(ada)).toEqual({ balance: owned, held: owned });
});

const edit = async (path: string, body: FormData | URLSearchParams) => {
  const answer = await fetch(starter + path, { method: 'POST', body, headers: { 'x-api-key': ada.apiKey } });
  expect(answer.status, await answer.clone().text()).toBe(200);
};
const image = () => toFile(pictureFiles.png, 'bread.png', { type: 'image/png' });

test.each<[string, bigint, () => Promise<unknown>]>([
  [
    'an uploaded picture',
    140_000n,
    async () => {
      const form = new FormData();
      form.append('prompt', 'Make it blue');
      form.append('file', await image());
      await edit('/edit', form);
    },
  ],
  [
    'the picture at an address',
    140_000n,
    async () => {
      const image_url = `data:image/png;base64,${pictureFiles.png.toString('base64')}`;
      await edit('/edit_url', new URLSearchParams({ prompt: 'Make it blue', image_url }));
    },
  ],
  [
    "a picture over OpenAI's images API",
    100_000n,
    async () => {
      const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ada.apiKey, maxRetries: 0 });
      await client.images.edit({ prompt: 'Make it blue', image: await image() });
    },
  ],
])('pay for %s', async (_, cost, ask) => {
  await ask();
  expect(stub.requests).toMatchObject([{ picture: pictureFiles.png.toString('base64') }]);
  expect(await setting.balance(ada)).toEqual({ balance: owned - 1n - cost, held: 0n });
});
