import { once } from 'node:events';
import http from 'node:http';
import { chatCompletions } from '@bakehouse/contract/chat';
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../testing/test-serving.ts';
import { expireHolds } from '../../billing/ledger/holds/holds.ts';
import { meterDeployments } from '../metering/meter-deployments.ts';
import { insertFineTune, insertStarter } from '../testing/test-models.ts';

const STARTER = 'starter-model';
const REPEAT_MS = 30_000;
/** Maximum duration of an answer. */
const ANSWER_MS_MAX = 30 * 60_000;
/** Less than the time after which the engine counts a silent model server as dead. */
const IDLE_MINUTES = 2;

let serving: TestServing;
let user: TestUser;
let starter: { assetId: string; revisionId: string };

beforeAll(async () => {
  serving = await testServing({ config: { idleMinutes: IDLE_MINUTES } });
  starter = await insertStarter(serving.server.services, STARTER);
});

beforeEach(async () => {
  user = await serving.server.signUp();
});

afterEach(() => {
  vi.useRealTimers();
});

/**
 * Starts a long request, and returns a function that disconnects. Its repeated records of use run on fake
 * timers.
 */
async function askFor(answer: 'hang' | 'flood', model: string): Promise<() => void> {
  const { stub, server } = serving;
  stub.answer = answer;
  stub.requests.length = 0;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const asked = http.request(server.url + chatCompletions.path, {
    method: 'POST',
    headers: { 'x-api-key': user.apiKey, 'content-type': 'application/json' },
  });
  asked.on('error', () => undefined);
  const messages = [{ role: 'user', content: 'Tell me all of it' }];
  asked.end(JSON.stringify({ model, messages, stream: answer === 'flood' }));
  if (answer === 'flood') await once(asked, 'response');
  await vi.waitFor(() => expect(stub.requests).toHaveLength(1));
  return () => asked.destroy();
}

const untilKept = (count = 1) =>
  vi.waitFor(async () => expect(await serving.requests(user)).toHaveLength(count));

/** Call this before fake timers are enabled. */
async function wakeStarter(): Promise<void> {
  serving.stub.answer = 'ok';
  expect((await serving.ask(user, STARTER)).status).toBe(200);
  await untilKept();
}

/**
 * Advances the clock almost to the idle limit, and expects that the running request is then recorded as use.
 */
async function passTime(lastRequestAt: () => Promise<Date | null>): Promise<void> {
  const { clock } = serving;
  clock.advance({ minutes: IDLE_MINUTES - 1 });
  vi.advanceTimersByTime(REPEAT_MS);
  await vi.waitFor(async () => expect(await lastRequestAt()).toEqual(clock.now()));
}

async function starterRequestedAt(): Promise<Date | null> {
  const { starter_requested_at: at } = await serving.server.services.db
    .selectFrom('model_servers')
    .select('starter_requested_at')
    .where('starter_name', '=', STARTER)
    .executeTakeFirstOrThrow();
  return at;
}

it('a deployment stays awake while it answers, and its idle time starts at the end of the answer', async () => {
  const { clock, server } = serving;
  const podId = await serving.deploy(user, await insertFineTune(server.services, starter, user, 'Slow Rye'));
  await serving.untilRunning(user, podId);
  const read = () => serving.status(user, podId);
  const disconnect = await askFor('hang', 'slow-rye');

  await passTime(async () => new Date((await read()).last_request_at ?? 0));
  clock.advance({ minutes: 2 });
  await meterDeployments(server.services);
  expect((await read()).status).toBe('running');

  disconnect();
  await untilKept();
  clock.advance({ minutes: IDLE_MINUTES - 1 });
  vi.advanceTimersByTime(REPEAT_MS);
  await meterDeployments(server.services);
  expect((await read()).status).toBe('running');
  clock.advance({ minutes: IDLE_MINUTES });
  await meterDeployments(server.services);
  expect((await read()).status).toBe('sleeping');
});

it('a starter model stays awake while it answers, and sleeps when idle', async () => {
  const { clock, server, driver } = serving;
  await wakeStarter();
  const disconnect = await askFor('hang', STARTER);
  await passTime(starterRequestedAt);
  clock.advance({ minutes: 2 });
  await meterDeployments(server.services);
  expect(await starterRequestedAt()).not.toBeNull();

  disconnect();
  await untilKept(2);
  clock.advance({ minutes: IDLE_MINUTES + 1 });
  await meterDeployments(server.services);
  expect(await starterRequestedAt()).toBeNull();
  await vi.waitFor(() => expect(driver.running()).toEqual([]));
});

it('extends the hold during the whole answer, so that slow answers are charged', async () => {
  const { clock, server } = serving;
  await wakeStarter();
  const before = await serving.balance(user);
  const disconnect = await askFor('flood', STARTER);
  const began = clock.now().getTime();
  while (clock.now().getTime() - began <= ANSWER_MS_MAX) await passTime(starterRequestedAt);
  await inTransaction(server.services.db, (tx) => expireHolds(tx, { now: clock.now(), limit: 10 }));
  expect((await serving.balance(user)).held).toBeGreaterThan(0n);

  disconnect();
  await untilKept(2);
  const [kept] = (await serving.requests(user)).toSorted((a, b) => b.completion_tokens - a.completion_tokens);
  expect(kept?.cost_micro).toBeGreaterThan(0n);
  expect(await serving.balance(user)).toEqual({
    balance: before.balance - (kept?.cost_micro ?? 0n),
    held: 0n,
  });
});
