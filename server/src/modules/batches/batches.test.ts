import { randomUUID } from 'node:crypto';
import { changeApiKey, createApiKey, revokeApiKey } from '@bakehouse/contract/api-keys';
import { sql } from 'kysely';
import type OpenAI from 'openai';
import { toFile } from 'openai';
import pg from 'pg';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { availableMicro } from '../billing/ledger/available-micro.ts';
import { hold } from '../billing/ledger/holds/holds.ts';
import { STARTER, starterServing } from '../deployments/testing/starter-serving.ts';
import { holdAnswers, stubUsage } from '../deployments/testing/stub-model-server.ts';
import { insertEncoder } from '../deployments/testing/test-models.ts';
import { deleteAnswersOf } from './bulk-answers.ts';

/* Batches are created and read with OpenAI's client. */

const { server, stub, clock, nextUser, openai, deploy, balance } = await starterServing();
let ada: TestUser;

beforeEach(async () => {
  ada = await nextUser();
});

type Line = Record<string, unknown>;
const chat = (id: string, more: object = {}): Line => ({
  ...{ custom_id: id, method: 'POST', url: '/v1/chat/completions' },
  body: { model: STARTER, max_tokens: 20, messages: [{ role: 'user', content: `Question ${id}` }], ...more },
});
const upload = async (lines: Line[], as = ada) => {
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const file = await toFile(Buffer.from(text), 'requests.jsonl');
  return (await openai(as).files.create({ file, purpose: 'batch' })).id;
};
const create = async (
  lines: Line[],
  endpoint: OpenAI.BatchCreateParams['endpoint'] = '/v1/chat/completions',
) => openai().batches.create({ input_file_id: await upload(lines), endpoint, completion_window: '24h' });
const until = (id: string, status: string) =>
  vi.waitFor(
    async () => {
      const batch = await openai().batches.retrieve(id);
      expect(batch.status).toBe(status);
      return batch;
    },
    { interval: 50 },
  );
const linesOf = async (id: string | null | undefined) =>
  (await (await openai().files.content(id ?? '')).text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { custom_id: string; response: { status_code: number; body: Line } });

/** A response format that no model server in this test can enforce. */
const unenforced = {
  type: 'json_schema',
  json_schema: { name: 'none', strict: true, schema: { not: { type: 'string' } } },
};

/** The cost of one answer of the stub, at half the price of a call. */
const COST = BigInt(
  Math.ceil((stubUsage.prompt_tokens * 250_000 + stubUsage.completion_tokens * 1_000_000) / 1e6),
);

it('answers its requests at the lower price, charging each once, into a file of the user', async () => {
  const before = await balance();
  const made = await openai().batches.create({
    ...{ input_file_id: await upload([chat('a'), chat('b'), chat('c', { response_format: unenforced })]) },
    ...{ endpoint: '/v1/chat/completions', completion_window: '24h', metadata: { shop: 'north' } },
  });
  expect(made).toMatchObject({
    ...{ object: 'batch', endpoint: '/v1/chat/completions', errors: null, metadata: { shop: 'north' } },
    ...{ request_counts: { total: 3 }, expires_at: made.created_at + 86_400 },
  });
  const done = await until(made.id, 'completed');
  expect(done.request_counts).toEqual({ total: 3, completed: 2, failed: 1 });
  const answers = await linesOf(done.output_file_id);
  expect(answers.map(({ custom_id: id }) => id)).toEqual(['a', 'b']);
  expect(answers[0]).toMatchObject({
    response: {
      status_code: 200,
      body: { model: STARTER, choices: [{ message: { content: 'Good bread.' } }] },
    },
    error: null,
  });
  expect(await linesOf(done.error_file_id)).toMatchObject([
    { custom_id: 'c', response: { status_code: 400, body: { error: { code: 'invalid_request' } } } },
  ]);
  const file = await openai().files.retrieve(done.output_file_id ?? '');
  expect(file).toMatchObject({ purpose: 'batch_output' });
  expect(await balance()).toEqual({ balance: before.balance - 2n * COST, held: 0n });
  const { data } = await openai().batches.list();
  expect(data).toEqual([done]);
});

it("answers responses, and embeddings of the user's model", async () => {
  const response = { ...chat('r'), url: '/v1/responses', body: { model: STARTER, input: 'Bread?' } };
  const responses = await until((await create([response], '/v1/responses')).id, 'completed');
  const [answer] = await linesOf(responses.output_file_id);
  expect(answer?.response.body).toMatchObject({ object: 'response', status: 'completed', store: false });

  const embed = (model: string): Line => ({
    ...{ ...chat('e'), url: '/v1/embeddings' },
    body: { model, input: ['bread', 'dough'] },
  });
  await deploy((await insertEncoder(server.services, ada, 'Crumbs')).assetId);
  const embeddings = await until((await create([embed('crumbs')], '/v1/embeddings')).id, 'completed');
  const [vectors] = await linesOf(embeddings.output_file_id);
  expect(vectors?.response.body).toMatchObject({ model: 'crumbs', data: [{ index: 0 }, { index: 1 }] });
  expect(embeddings).toMatchObject({ cost_so_far: expect.stringMatching(/^0\.0000\d+$/) });
  await expect(create([embed(STARTER)], '/v1/embeddings')).rejects.toMatchObject({
    ...{ param: 'model', message: expect.stringContaining('writes text') },
  });
});

/** Starts a call that waits for its answer until the returned function is called. */
async function openCall(as = ada): Promise<() => void> {
  stub.answer = 'hang';
  const leaving = new AbortController();
  const messages = [{ role: 'user' as const, content: 'Wait' }];
  const call = openai(as).chat.completions.create({ model: STARTER, messages }, { signal: leaving.signal });
  call.catch(() => undefined);
  await vi.waitFor(() => expect(stub.requests).toHaveLength(1));
  stub.answer = 'ok';
  return () => leaving.abort();
}

const begun = async () =>
  (
    await sql<{ locked: boolean }>`select lock_token is not null as locked from bulk_answers
      where user_id = ${ada.userId}`.execute(server.services.db)
  ).rows[0]?.locked;

it("lets users' calls run first", async () => {
  const leave = await openCall();
  const made = await create([chat('a')]);
  await vi.waitFor(async () => expect(await begun()).toBe(true));
  expect(stub.requests).toHaveLength(1);
  leave();
  await until(made.id, 'completed');
  expect(stub.requests).toHaveLength(2);
});

it("completes while another user's call stays open", async () => {
  const leave = await openCall(await server.signUp('Bob'));
  const made = await create([chat('a'), chat('b')]);
  // The batch has had its turn and now waits.
  for (const isLocked of [true, false]) await vi.waitFor(async () => expect(await begun()).toBe(isLocked));
  expect(stub.requests).toHaveLength(1);
  clock.advance({ seconds: 11 });
  await until(made.id, 'completed');
  expect(stub.requests).toHaveLength(3);
  leave();
});

it("can be cancelled while users' calls are open", async () => {
  const before = await balance();
  const leave = await openCall();
  const made = await create([chat('a')]);
  await openai().batches.cancel(made.id);
  await until(made.id, 'cancelled');
  expect(await balance()).toMatchObject({ balance: before.balance });
  leave();
});

it("takes turns with other users' batches", async () => {
  const bob = await server.signUp('Bob');
  stub.says = () => {
    clock.advance({ seconds: 3 });
    return 'Good bread.';
  };
  const long = await create(Array.from({ length: 60 }, (_, index) => chat(`${index}`)));
  const file = await upload([chat('b')], bob);
  const short = await openai(bob).batches.create({
    ...{ input_file_id: file, endpoint: '/v1/chat/completions', completion_window: '24h' },
  });
  await vi.waitFor(async () =>
    expect((await openai(bob).batches.retrieve(short.id)).status).toBe('completed'),
  );
  expect((await openai().batches.retrieve(long.id)).request_counts?.completed).toBeLessThan(60);
  await until(long.id, 'completed');
});

it.each([
  ['revoked', (keyId: string) => server.request(revokeApiKey, { params: { keyId } }, { as: ada })],
  [
    'narrowed to reading',
    (keyId: string) =>
      server.request(changeApiKey, { params: { keyId }, body: { scopes: ['read'] } }, { as: ada }),
  ],
  [
    'expired',
    (keyId: string) =>
      sql`update api_keys set expires_at = ${clock.now()} where id = ${keyId}`.execute(server.services.db),
  ],
])('ends when the API key that started it is %s', async (_, change) => {
  const before = await balance();
  const leave = await openCall();
  const key = await server.request(
    createApiKey,
    { params: { userId: ada.userId }, body: { name: 'Batches' } },
    { as: ada },
  );
  const made = await openai({ ...ada, apiKey: key.secret }).batches.create({
    ...{ input_file_id: await upload([chat('a')]), endpoint: '/v1/chat/completions' },
    completion_window: '24h',
  });
  await change(key.api_key.id);
  await until(made.id, 'cancelled');
  leave();
  expect(await balance()).toMatchObject({ balance: before.balance });
});

it("locks its user's account only after its requests are written", async () => {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  const made = await create([chat('a')]);
  const asked = query.mock.calls.map(([text], at) => ({
    connection: query.mock.contexts[at],
    text: typeof text === 'string' ? text : ((text as { text?: string }).text ?? ''),
  }));
  query.mockRestore();
  const holdAt = asked.findIndex(({ text }) => text.includes('ledger_hold('));
  const lines = asked.findIndex(({ text }) => text.includes('insert into batch_lines'));
  expect(asked[lines]?.connection).toBe(asked[holdAt]?.connection);
  expect(lines).toBeLessThan(holdAt);
  // Otherwise its request could reach the model server in the next test.
  await until(made.id, 'completed');
});

it('is rejected before its file is read if too many are running', async () => {
  const leave = await openCall();
  const file = await upload([chat('a')]);
  const bad = await upload([{ ...chat('a'), method: 'GET' }]);
  const begin = (input_file_id: string) =>
    openai().batches.create({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' });
  const made: { id: string }[] = [];
  while (made.length < 10) made.push(await begin(file));
  await expect(begin(bad)).rejects.toMatchObject({ status: 409 });
  leave();
  for (const { id } of made) await until(id, 'completed');
});

it('repeats a request whose answer was lost in a crash, and charges it once', async () => {
  const before = await balance();
  const goOn = holdAnswers(stub);
  const made = await create([chat('a'), chat('b')]);
  await vi.waitFor(() => expect(stub.open).toBe(2));
  // Simulates the lease of a second process that has also died.
  const lockedUntil = new Date(clock.now().getTime() + 29_000);
  await sql`update bulk_answers set lock_token = ${randomUUID()}, locked_until = ${lockedUntil}
    where user_id = ${ada.userId}`.execute(server.services.db);
  goOn();
  // Expires only that lease: the next claim has a later expiry.
  clock.advance({ seconds: 30 });
  const done = await until(made.id, 'completed');
  expect(done.request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
  // At least: a request that fails is retried.
  expect(stub.requests.length).toBeGreaterThanOrEqual(4);
  expect(await linesOf(done.output_file_id)).toHaveLength(2);
  expect(await balance()).toEqual({ balance: before.balance - 2n * COST, held: 0n });
});

it('stores and charges the received answers when cancelled', async () => {
  const before = await balance();
  const goOn = holdAnswers(stub);
  const made = await create(Array.from({ length: 6 }, (_, index) => chat(`${index}`)));
  await vi.waitFor(() => expect(stub.open).toBeGreaterThan(0));
  expect((await openai().batches.cancel(made.id)).status).toBe('cancelling');
  goOn();
  const done = await until(made.id, 'cancelled');
  expect(done).toMatchObject({
    ...{ request_counts: { total: 6, completed: 4, failed: 0 }, error_file_id: null },
    cancelled_at: expect.any(Number),
  });
  expect(await linesOf(done.output_file_id)).toHaveLength(4);
  expect(await balance()).toEqual({ balance: before.balance - 4n * COST, held: 0n });
  expect(await openai().batches.cancel(made.id)).toEqual(done);
});

it('lists its unanswered requests when it expires, without a charge for them', async () => {
  const before = await balance();
  const leave = await openCall();
  const made = await create([chat('a')]);
  await sql`update bulk_answers set expires_at = ${clock.now()} where user_id = ${ada.userId}`.execute(
    server.services.db,
  );
  const done = await until(made.id, 'expired');
  leave();
  expect(done).toMatchObject({
    ...{ output_file_id: null, request_counts: { total: 1, completed: 0, failed: 0 } },
  });
  expect(await linesOf(done.error_file_id)).toMatchObject([
    { custom_id: 'a', response: null, error: { code: 'batch_expired' } },
  ]);
  expect(await balance()).toEqual(before);
});

it('is charged for its stored answers when its user is deleted', async () => {
  const { db } = server.services;
  const before = await balance();
  const leave = await openCall(await server.signUp('Bob'));
  await create([chat('a')]);
  await sql`update bulk_answers set cost_micro = 3 where user_id = ${ada.userId}`.execute(db);
  await inTransaction(db, (tx) => deleteAnswersOf(tx, ada.userId));
  leave();
  expect(await balance()).toEqual({ balance: before.balance - 3n, held: 0n });
  expect((await openai().batches.list()).data).toEqual([]);
});

describe('is rejected with the number of its invalid line, and creates no hold', () => {
  it.each<[Line[], string]>([
    [[chat('a'), chat('a')], "Line 2: custom_id 'a' stands on a line before"],
    [[{ ...chat('a'), custom_id: undefined }], 'Line 1: custom_id is required'],
    [[{ ...chat('a'), method: 'GET' }], "Line 1: method must be 'POST'"],
    [[{ ...chat('a'), url: '/v1/completions' }], 'Line 1: url must be /v1/chat/completions'],
    [[chat('a', { stream: true })], 'Line 1: body.stream must be left out'],
    [[chat('a', { messages: [] })], 'Line 1: body.messages'],
    [[chat('a'), chat('b', { model: 'other' })], `Line 2: body.model must be '${STARTER}'`],
    [
      Array.from({ length: 50_001 }, (_, index) => ({
        ...chat(`${index}`),
        body: { model: STARTER, messages: [{ role: 'user', content: 'a' }] },
      })),
      'A batch has at most 50000 requests',
    ],
  ])('%#', async (lines, message) => {
    const before = await balance();
    await expect(create(lines)).rejects.toMatchObject({
      ...{ status: 400, param: 'input_file_id', message: expect.stringContaining(message) },
    });
    expect(await balance()).toEqual(before);
    expect((await openai().batches.list()).data).toEqual([]);
  });
});

it('is rejected for insufficient credit or an unknown model, and hidden from other users', async () => {
  const before = await balance();
  await inTransaction(server.services.db, async (tx) =>
    hold(tx, {
      ...{ userId: ada.userId, amountMicro: await availableMicro(tx, ada.userId), kind: 'fine_tuning' },
      ...{ description: 'All of it', idempotencyKey: `all:${ada.userId}` },
      expiresAt: new Date(clock.now().getTime() + 3_600_000),
    }),
  );
  await expect(create([chat('a')])).rejects.toMatchObject({ status: 402, code: 'insufficient_funds' });
  expect((await balance()).balance).toBe(before.balance);
  await expect(create([chat('a', { model: 'nobody' })])).rejects.toMatchObject({
    status: 404,
    param: 'model',
  });
  ada = await nextUser();
  const made = await create([chat('a')]);
  const bob = await server.signUp('Bob');
  await expect(openai(bob).batches.retrieve(made.id)).rejects.toMatchObject({
    status: 404,
    param: 'batch_id',
  });
  await expect(openai(bob).batches.cancel(made.id)).rejects.toMatchObject({ status: 404 });
  expect((await openai(bob).batches.list()).data).toEqual([]);
});
