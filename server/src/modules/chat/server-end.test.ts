import { chatCompletions } from '@bakehouse/contract/chat';
import { afterEach, expect, it, vi } from 'vitest';
import { testServer } from '../../testing/test-server.ts';
import { testServing } from '../../testing/test-serving.ts';
import { insertStarter } from '../deployments/testing/test-models.ts';

/*
 * Tests requests during the shutdown of a web process. The model server belongs to another process and keeps
 * running.
 */

const STARTER = 'starter-model';
const serving = await testServing();
const { server, stub } = serving;
await insertStarter(server.services, STARTER);

afterEach(() => {
  vi.useRealTimers();
});

it.each([
  { asked: 'an answer', stream: false },
  { asked: 'a stream', stream: true },
])('ends $asked that outlasts the shutdown, with an error and without a charge', async ({ stream }) => {
  const user = await server.signUp();
  stub.answer = 'ok';
  await (await serving.ask(user, STARTER)).text();
  const before = await serving.balance(user);
  const ending = await testServer({
    database: { url: server.databaseUrl, close: async () => {} },
    clock: serving.clock,
    config: { secret: server.services.config.secret },
  });
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  Object.assign(stub, { answer: 'hold', held, disconnected: 0 });
  stub.requests.length = 0;
  const messages = [{ role: 'user' as const, content: 'What do you bake?' }];
  const asked = ending.send(chatCompletions, { body: { model: STARTER, messages, stream } }, { as: user });
  // The new process waits until the other process has seen its first heartbeat.
  await vi.waitFor(() => expect(stub.requests).toHaveLength(1));
  const reader = stream ? (await asked).body?.getReader() : null;
  if (reader) expect(new TextDecoder().decode((await reader.read()).value)).toContain('Good');

  vi.useFakeTimers({ toFake: ['Date'] });
  const closed = ending.close();
  vi.setSystemTime(Date.now() + 60_000);
  const said = reader ? new TextDecoder().decode((await reader.read()).value) : await (await asked).text();
  expect(JSON.parse(said.replace('data: ', ''))).toMatchObject({
    error: { code: 'unavailable', message: 'The server is stopping. Try again in a moment' },
  });
  if (!stream) expect((await asked).status).toBe(503);
  await closed;
  vi.useRealTimers();
  await vi.waitFor(() => expect(stub.disconnected).toBe(1));
  release();
  expect(await serving.balance(user)).toEqual(before);
  await expect
    .poll(() => serving.requests(user))
    .toMatchObject([{ ok: true }, { ok: false, prompt_tokens: 0, completion_tokens: 0, cost_micro: 0n }]);
});
