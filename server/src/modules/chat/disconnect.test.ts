import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiKey, revokeApiKey } from '@bakehouse/contract/api-keys';
import { chatCompletions } from '@bakehouse/contract/chat';
import { DEFAULT_CONTEXT_TOKENS } from '@bakehouse/contract/limits';
import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createHeartbeat } from '../../engine/machines/heartbeat-loop.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { type TestServing, testServing } from '../../testing/test-serving.ts';
import { costMicro } from '../billing/prices/cost.ts';
import { defaultPrice } from '../billing/prices/default-price.ts';
import { FLOOD_TOKENS_MAX, stubUsage } from '../deployments/testing/stub-model-server.ts';
import { insertStarter } from '../deployments/testing/test-models.ts';
import { PARALLEL_REQUESTS } from '../serving/text-spec.ts';
import { WholeAnswer } from './answer-shape.ts';
import { highestCostMicro, usageBounds } from './requests/requests.ts';

const STARTER = 'starter-model';
const PLACES = PARALLEL_REQUESTS.llamacpp;

let serving: TestServing;
let user: TestUser;

beforeAll(async () => {
  serving = await testServing();
  await insertStarter(serving.server.services, STARTER);
});

const callers: AbortController[] = [];

/**
 * Returns a controller that is aborted after the test, so that a waiting request does not occupy a slot in
 * the next test.
 */
function abortAtEnd(): AbortController {
  const caller = new AbortController();
  callers.push(caller);
  return caller;
}

afterEach(() => {
  vi.useRealTimers();
  for (const caller of callers.splice(0)) caller.abort();
});

beforeEach(async () => {
  serving.stub.requests.length = 0;
  serving.stub.disconnected = 0;
  user = await serving.server.signUp();
});

/**
 * Resolves when the model server has stopped writing. Another user's answer from the same model server takes
 * many passes of the event loop, and an unthrottled flood would advance in each.
 */
async function floodStandsStill(other: TestUser): Promise<void> {
  const { stub } = serving;
  stub.answer = 'ok';
  for (let written = -1; written !== stub.floodTokens; ) {
    written = stub.floodTokens;
    expect(await (await serving.ask(other, STARTER)).text()).toContain('Good bread');
  }
}

it.each([
  { asked: 'an answer', stream: false },
  { asked: 'a stream', stream: true },
])(
  'ends the request to the silent model server when the caller of $asked disconnects, without a charge or an error',
  async ({ stream }) => {
    const { stub } = serving;
    stub.answer = 'hang';
    const before = await serving.balance(user);
    const caller = new AbortController();
    const asked = serving.ask(user, STARTER, { stream, signal: caller.signal });
    asked.catch(() => undefined);
    await vi.waitFor(() => expect(stub.requests).toHaveLength(1));
    expect((await serving.balance(user)).held).toBeGreaterThan(0n);

    caller.abort();
    await vi.waitFor(() => expect(stub.disconnected).toBe(1));
    await vi.waitFor(async () => expect(await serving.balance(user)).toEqual(before));
    expect(await keptRequests()).toEqual([
      { ok: true, prompt_tokens: 0, completion_tokens: 0, cost_micro: 0n, first_token_ms: null },
    ]);
  },
);

it.each([{ max_tokens: 10 }, { max_completion_tokens: 10 }, {}])(
  'holds the maximum cost of an answer requested with %j',
  async (more) => {
    const { stub, server } = serving;
    stub.answer = 'hang';
    const caller = abortAtEnd();
    const body = { model: STARTER, messages: [{ role: 'user' as const, content: 'Go' }], ...more };
    server.send(chatCompletions, { body }, { as: user, signal: caller.signal }).catch(() => undefined);
    await vi.waitFor(() => expect(stub.requests).toHaveLength(1));
    const prices = {
      prompt: defaultPrice('prompt_tokens:CPU'),
      completion: defaultPrice('completion_tokens:CPU'),
    };
    const priceMicro = highestCostMicro(
      prices,
      usageBounds(body, { context_tokens: DEFAULT_CONTEXT_TOKENS }),
    );
    // The window's hold covers several answers from the start.
    expect((await serving.balance(user)).held).toBe(priceMicro * 4n);
  },
);

it('slows the model server down if a client stops reading, and charges the tokens written until it disconnects', async () => {
  const { stub, server } = serving;
  stub.answer = 'flood';
  const before = await serving.balance(user);
  const reader = http.request(server.url + chatCompletions.path, {
    method: 'POST',
    headers: { 'x-api-key': user.apiKey, 'content-type': 'application/json' },
  });
  reader.end(JSON.stringify({ model: STARTER, messages: [{ role: 'user', content: 'Go' }], stream: true }));
  await once(reader, 'response');
  // When the model server stops writing, every buffer on the way is full.
  await floodStandsStill(await server.signUp());
  expect(stub.floodTokens).toBeLessThan(FLOOD_TOKENS_MAX);

  reader.destroy();
  await vi.waitFor(() => expect(stub.disconnected).toBe(1));
  await vi.waitFor(async () => expect((await serving.balance(user)).held).toBe(0n));
  const [kept, ...others] = await keptRequests();
  expect(others).toEqual([]);
  expect(kept).toMatchObject({ ok: true, prompt_tokens: stubUsage.prompt_tokens });
  expect(kept?.completion_tokens).toBeGreaterThan(0);
  expect(kept?.completion_tokens).toBeLessThanOrEqual(stub.floodTokens);
  const cost = costMicro([
    { price: defaultPrice('prompt_tokens:CPU'), parts: BigInt(kept?.prompt_tokens ?? 0) },
    { price: defaultPrice('completion_tokens:CPU'), parts: BigInt(kept?.completion_tokens ?? 0) },
  ]);
  expect((await serving.balance(user)).balance).toBe(before.balance - cost);
});

it("charges a non-streamed answer up to the client's disconnect", async () => {
  const { stub } = serving;
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  Object.assign(stub, { answer: 'hold', held });
  const add = vi.spyOn(WholeAnswer.prototype, 'add');
  const caller = abortAtEnd();
  serving.ask(user, STARTER, { signal: caller.signal }).catch(() => undefined);
  await vi.waitFor(() => expect(add).toHaveBeenCalled());
  add.mockRestore();
  caller.abort();
  await vi.waitFor(() => expect(stub.disconnected).toBe(1));
  release();
  await vi.waitFor(async () => expect((await serving.balance(user)).held).toBe(0n));
  const [kept] = await keptRequests();
  expect(kept).toMatchObject({ ok: true, prompt_tokens: stubUsage.prompt_tokens, completion_tokens: 1 });
  expect(kept?.cost_micro).toBeGreaterThan(0n);
});

it('ends an answer whose API key is revoked with an error, and charges its tokens', async () => {
  const { stub, server } = serving;
  stub.answer = 'flood';
  const made = { params: { userId: user.userId }, body: { name: 'program' } };
  const { api_key, secret } = await server.request(createApiKey, made, { as: user });
  const answer = await serving.ask({ ...user, apiKey: secret }, STARTER, { stream: true });
  await server.request(revokeApiKey, { params: { keyId: api_key.id } }, { as: user });
  expect(await answer.text()).toContain('This API key is no longer valid');
  await vi.waitFor(() => expect(stub.disconnected).toBe(1));
  await vi.waitFor(async () => expect((await serving.balance(user)).held).toBe(0n));
  expect((await keptRequests())[0]?.completion_tokens).toBeGreaterThan(0);
});

it('disconnects a client that reads nothing for half a minute', async () => {
  const { stub, server } = serving;
  const other = await server.signUp();
  stub.answer = 'flood';
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const reader = http.request(server.url + chatCompletions.path, {
    method: 'POST',
    headers: { 'x-api-key': user.apiKey, 'content-type': 'application/json' },
  });
  reader.on('error', () => undefined);
  reader.end(JSON.stringify({ model: STARTER, messages: [{ role: 'user', content: 'Go' }], stream: true }));
  await once(reader, 'response');
  await floodStandsStill(other);
  vi.advanceTimersByTime(31_000);
  vi.useRealTimers();
  await vi.waitFor(() => expect(stub.disconnected).toBe(1));
  await vi.waitFor(async () => expect((await serving.balance(user)).held).toBe(0n));
  expect((await keptRequests())[0]?.completion_tokens).toBeGreaterThan(0);
});

it.each([
  { asked: 'an answer', stream: false },
  { asked: 'a stream', stream: true },
])('ends $asked without a charge after the model server is silent for three minutes', async ({ stream }) => {
  const { stub } = serving;
  stub.answer = 'hang';
  const before = await serving.balance(user);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const asked = serving.ask(user, STARTER, { stream });
  // vi.waitFor would advance the fake clock.
  while (stub.requests.length === 0) await pause(20);
  vi.advanceTimersByTime(3 * 60_000);
  vi.useRealTimers();
  const answer = await asked;
  expect(answer.status).toBe(504);
  expect(await answer.text()).toContain('wrote nothing for 3 minutes');
  await vi.waitFor(() => expect(stub.disconnected).toBe(1));
  await vi.waitFor(async () => expect(await serving.balance(user)).toEqual(before));
  expect(await keptRequests()).toMatchObject([{ ok: false, cost_micro: 0n }]);
});

it('ends a non-streamed answer before its client times out and retries, and charges its tokens', async () => {
  const { stub } = serving;
  const words = ['Good', ' ', 'bread', '.'];
  const add = vi.spyOn(WholeAnswer.prototype, 'add');
  let hold = Promise.withResolvers<void>();
  Object.assign(stub, { answer: 'hold', held: hold.promise });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const asked = serving.ask(user, STARTER);
  for (const number of words.keys()) {
    // vi.waitFor would advance the fake clock.
    while (add.mock.calls.length <= number) await pause(20);
    vi.advanceTimersByTime((number < 3 ? 2.5 : 2) * 60_000);
    if (number === 3) break;
    const { resolve: release } = hold;
    hold = Promise.withResolvers();
    stub.held = hold.promise;
    release();
  }
  vi.useRealTimers();
  add.mockRestore();
  const answer = await asked;
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    choices: [{ message: { content: 'Good bread.' }, finish_reason: 'length' }],
    usage: { completion_tokens: 4 },
  });
  await vi.waitFor(() => expect(stub.disconnected).toBe(1));
  hold.resolve();
  await vi.waitFor(async () => expect((await serving.balance(user)).held).toBe(0n));
  expect(await keptRequests()).toMatchObject([{ ok: true, completion_tokens: 4 }]);
});

it('starts an idle stream with a comment after 10 s, and reports later errors in the stream', async () => {
  const { stub } = serving;
  stub.answer = 'hang';
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const asked = serving.ask(user, STARTER, { stream: true });
  // vi.waitFor would advance the fake clock.
  while (stub.requests.length === 0) await pause(20);
  vi.advanceTimersByTime(10_000);
  const answer = await asked;
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-cache, no-transform');
  const reader = answer.body?.getReader();
  const read = async () => new TextDecoder().decode((await reader?.read())?.value);
  expect(await read()).toBe(': waiting\n\n');
  const { db, machineId } = serving.server.services;
  const begin = (accelerator: string | null) =>
    sql`insert into workloads (behaviour, kind, title, spec, accelerator, accelerator_count, machine_id, state,
      check_at, created_at, queued_at, not_before) values ('run', 'fine-tune', 'Loaf', '{"kind": "train"}',
      ${accelerator}, ${accelerator ? 1 : 0}, ${machineId}, 'ready', now() + interval '1 day', now(), now(),
      now())`.execute(db);
  await begin('NVIDIA_H100_80GB');
  vi.advanceTimersByTime(10_000);
  expect(await read()).toBe(': waiting\n\n');
  await begin(null);
  vi.advanceTimersByTime(10_000);
  expect(await read()).toBe(': waiting, The server is busy with a training run\n\n');
  await sql`delete from workloads where title = 'Loaf'`.execute(db);
  vi.advanceTimersByTime(3 * 60_000);
  vi.useRealTimers();
  const said = [];
  for (let part = await read(); part; part = await read()) said.push(part);
  expect(said.join('')).toMatch(/data: .*"code":"timed_out".*wrote nothing for 3 minutes/);
});

it('charges nothing if the model server hangs in the middle of an answer', async () => {
  const { stub } = serving;
  stub.answer = 'ok';
  await (await serving.ask(user, STARTER)).text();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  Object.assign(stub, { answer: 'hold', held });
  const before = await serving.balance(user);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const answer = await serving.ask(user, STARTER, { stream: true });
  const reader = answer.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('Good');
  vi.advanceTimersByTime(3 * 60_000);
  vi.useRealTimers();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('wrote nothing for 3 minutes');
  release();
  await vi.waitFor(async () => expect(await serving.balance(user)).toEqual(before));
});

it('answers another user immediately, however many requests one user sends', async () => {
  const { stub, server } = serving;
  const { promise, resolve } = Promise.withResolvers<void>();
  stub.held = promise;
  stub.answer = 'hold';
  for (let asked = 0; asked < PLACES + 2; asked += 1) {
    const caller = abortAtEnd();
    serving.ask(user, STARTER, { signal: caller.signal }).catch(() => undefined);
  }
  const all = PLACES - 1;
  await vi.waitFor(() => expect(stub.requests).toHaveLength(all));
  stub.answer = 'ok';
  expect((await serving.ask(await server.signUp(), STARTER)).status).toBe(200);
  // The other user's answer has not raised the limit of the user with many requests.
  expect(stub.requests).toHaveLength(all + 1);
  resolve();
});

it("leaves half of a model server's slots to another process that uses it", async () => {
  const { stub, server } = serving;
  const { db, log, machineId, webProcesses } = server.services;
  const servers = await db.selectFrom('model_servers').select('id').execute();
  const asked = () => servers.map(({ id }) => id);
  const other = createHeartbeat({ db, log, machineId, roles: ['web'], asked });
  await other.start();
  await vi.waitFor(() => expect(webProcesses()).toBe(2));
  stub.answer = 'hang';
  const users = await Promise.all(Array.from({ length: PLACES }, () => server.signUp()));
  const held = users.map((one) => {
    const caller = abortAtEnd();
    return { caller, answer: serving.ask(one, STARTER, { signal: caller.signal }).catch(() => null) };
  });
  const half = PLACES / 2;
  // A request from the previous test may still arrive, but disconnects immediately.
  await vi.waitFor(() => expect(stub.open).toBe(half));
  await other.close();
  await vi.waitFor(() => expect(webProcesses()).toBe(1));
  // This process learns of the freed half when its next request starts or ends.
  expect(stub.open).toBe(half);
  stub.answer = 'ok';
  expect((await serving.ask(user, STARTER)).status).toBe(200);
  for (const { caller } of held) caller.abort();
  await Promise.all(held.map(({ answer }) => answer));
}, 60_000);

it('limits the open requests of one user, and sends the time after which to retry', async () => {
  const { stub, server } = serving;
  stub.answer = 'hang';
  const answers = Array.from({ length: 70 }, () =>
    serving.ask(user, STARTER, { signal: abortAtEnd().signal }).catch(() => null),
  );
  const refused = await Promise.any(
    answers.map(async (answer) => (await answer) ?? Promise.reject(new Error())),
  );
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('2');
  // The server rejects this request before its body arrives.
  const more = http.request(server.url + chatCompletions.path, {
    method: 'POST',
    headers: { 'x-api-key': user.apiKey, 'content-type': 'application/json', 'content-length': '100' },
  });
  more.on('error', () => undefined);
  more.flushHeaders();
  const [answer] = (await once(more, 'response')) as [http.IncomingMessage];
  expect(answer.statusCode).toBe(429);
  more.destroy();
});

it('sends no request to the model server for users without credit', async () => {
  const { stub, server } = serving;
  stub.answer = 'ok';
  expect((await serving.ask(user, STARTER)).status).toBe(200);
  const poor = await server.signUp();
  await serving.leave(poor, 0n);
  for (const stream of [false, true]) {
    const answer = await serving.ask(poor, STARTER, { stream });
    expect(answer.status).toBe(402);
    expect(await answer.text()).toContain('Insufficient balance');
  }
  expect(await serving.balance(poor)).toEqual({ balance: 0n, held: 0n });
  expect(await serving.requests(poor)).toEqual([]);
});

/** Returns the user's recorded requests. A request is recorded after it was charged. */
function keptRequests() {
  return vi.waitFor(async () => {
    const kept = await serving.requests(user);
    expect(kept.length).toBeGreaterThan(0);
    return kept;
  });
}
