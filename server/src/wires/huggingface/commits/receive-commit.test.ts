import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { collectBlobsJob } from '../../../modules/assets/jobs/collect-blobs.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { fileLine, header, hubCalls } from '../testing/hub-calls.ts';

const clock = fakeClock();
const server = await testServer({ clock, config: { storageGb: 1 / 1024 } });
const { signUpAs, read, refusal, commit } = hubCalls(server);
const { db } = server.services;

let ada: TestUser;
beforeAll(async () => {
  ada = await signUpAs('ada');
  for (const name of ['large', 'slow'])
    await read('/api/repos/create', { as: ada, body: { name, type: 'dataset' } });
});

const hashOf = (content: string) => createHash('sha256').update(content).digest('hex');
const storedOf = (contents: string[]) =>
  db.selectFrom('blobs').select('touched_at').where('sha256', 'in', contents.map(hashOf)).execute();

test('rejects a commit that exceeds the quota before the rest of it is stored', async () => {
  const contents = ['a', 'b', 'c', 'd'].map((mark) => mark.repeat(600 * 1024));
  const [first = ''] = contents;
  expect((await commit('ada/large', [header('x'), fileLine('a', first)], { as: ada })).status).toBe(200);
  const lines = [header('x'), ...contents.map((content, index) => fileLine(`${index}`, content))];
  const body = lines.map((line) => JSON.stringify(line)).join('\n');
  expect(await refusal('/api/datasets/ada/large/commit/main', { as: ada, body })).toMatchObject({
    status: 413,
    error: expect.stringMatching(/needs? more than .* left/),
  });
  // The first file is already stored, so it does not count. The second one exceeds the quota.
  expect(await storedOf(contents)).toHaveLength(2);
  const again = [header('x'), fileLine('b', first), fileLine('c', 'little')];
  expect((await commit('ada/large', again, { as: ada })).status).toBe(200);
});

test('protects the stored bytes of a commit from the collector until all of it has arrived', async () => {
  const lines = new TransformStream<string, string>();
  const writer = lines.writable.getWriter();
  const write = (line: object) => writer.write(`${JSON.stringify(line)}\n`);
  const answer = fetch(`${server.url}/hub/api/datasets/ada/slow/commit/main`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.apiKey}` },
    body: lines.readable.pipeThrough(new TextEncoderStream()),
    duplex: 'half',
  });
  await write(header('Slow'));
  const send = async (content: string) => {
    await write(fileLine(content, content));
    await expect.poll(() => storedOf([content])).toHaveLength(1);
  };
  await send('first');
  await send('second');
  const touched_at = new Date(clock.now().getTime() - 2 * 60 * 60_000);
  await db.updateTable('blobs').set({ touched_at }).where('sha256', '=', hashOf('first')).execute();
  clock.advance({ minutes: 11 });
  await send('third');
  await send('fourth');
  await collectBlobsJob.run(server.services, {}, AbortSignal.timeout(10_000));
  await writer.close();
  expect((await answer).status).toBe(200);
});
