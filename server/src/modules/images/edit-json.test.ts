import { expect, test } from 'vitest';
import { testGenerations } from '../../testing/test-generations.ts';
import { pictureFiles } from '../generations/testing/picture-files.ts';

const { server } = await testGenerations();
const ada = await server.signUp('Ada');

test("the original product's edit calls accept the picture's address in JSON, and their number and flag formats", async () => {
  const image_url = `data:image/png;base64,${pictureFiles.png.toString('base64')}`;
  const edit = async (more: object) => {
    const answer = await fetch(`${server.url}/v1/starters/kontext-starter/edit_url`, {
      method: 'POST',
      body: JSON.stringify({ prompt: 'Make it blue', image_url, ...more }),
      headers: { 'x-api-key': ada.apiKey, 'content-type': 'application/json' },
    });
    return { status: answer.status, json: await answer.json() };
  };
  const numbers = { num_inference_steps: 12, guidance_scale: 3.5, seed: 7 };
  expect(await edit({ ...numbers, skip_integrity_check: true })).toMatchObject({
    status: 200,
    json: { ...numbers, integrity_checked: false },
  });
  expect(await edit({ num_inference_steps: '12', seed: null })).toMatchObject({ status: 200 });
  for (const wrong of ['many', '0x10', true])
    expect(await edit({ num_inference_steps: wrong })).toMatchObject({
      status: 400,
      json: { error: { message: 'num_inference_steps must be a number' } },
    });
  expect(await edit({ skip_integrity_check: 2 })).toMatchObject({
    status: 400,
    json: { error: { message: 'skip_integrity_check must be one of 0, 1, true, false' } },
  });
});
