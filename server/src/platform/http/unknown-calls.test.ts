import { expect, it } from 'vitest';
import { testServer } from '../../testing/test-server.ts';

const server = await testServer();

it.each([
  ['POST', '/v1/moderations', 'There is no POST /v1/moderations. This server has no moderation model'],
  ['POST', '/v1/audio/speech', 'neither writes down speech nor speaks'],
  [
    'GET',
    '/v1/assistants/asst_1?limit=2',
    'There is no GET /v1/assistants/asst_1. This server has no assistants',
  ],
  ['POST', '/v1/fine_tuning/jobs/ftjob-1/pause', 'To pause a job, cancel it'],
  ['POST', '/v1/batches/batch_1/pause', 'Under /v1/batches there are'],
  ['POST', '/v1/fine_tuning/checkpoints/ft:a/permissions', 'publish its model, or share it'],
  ['POST', '/v1/images/variations', 'POST /v1/images/edits'],
  ['GET', '/v1/chat/completions/chatcmpl-1', 'keeps no completions'],
  ['POST', '/v1/responses/resp_1/cancel', 'no response runs in the background'],
  ['POST', '/v1/responses/compact', 'There is no POST /v1/responses/compact. This server shortens no'],
  ['POST', '/v1/filesystem', 'Under /v1 there are chat/completions,'],
  ['POST', '/v1/engines/gpt/completions', 'GET /openapi.json describes them'],
])('%s %s names the alternative here', async (method, path, words) => {
  const answer = await fetch(server.url + path, { method });
  expect(answer.status).toBe(404);
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  expect(error).toMatchObject({ code: 'not_found', message: expect.stringContaining(words) });
});

it('does not suggest alternatives to other unknown calls', async () => {
  const answer = await fetch(`${server.url}/api/v1/nothing`);
  expect(await answer.json()).toMatchObject({ error: { message: 'There is no GET /api/v1/nothing' } });
});
