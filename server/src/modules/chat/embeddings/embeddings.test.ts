import { createEmbeddings } from '@bakehouse/contract/embeddings';
import OpenAI from 'openai';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestUser } from '../../../testing/test-server.ts';
import { costMicro } from '../../billing/prices/cost.ts';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import { starterServing } from '../../deployments/testing/starter-serving.ts';
import { insertEncoder, insertStarterEncoder } from '../../deployments/testing/test-models.ts';

const { stub, server, openai, nextUser, deploy, untilRunning, status, balance, serving } =
  await starterServing();
const STARTER = 'sentences';
let user: TestUser;

await insertStarterEncoder(server.services, STARTER);

beforeEach(async () => {
  user = await nextUser();
});

const cost = (tokens: number) =>
  costMicro([{ price: defaultPrice('embedding_tokens:CPU'), parts: BigInt(tokens) }]);

/** Returns the amount charged to the user, once nothing is held any more. */
async function paid(before: { balance: bigint }): Promise<bigint> {
  await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
  return before.balance - (await balance()).balance;
}

const asked = () => stub.requests.filter((body) => 'input' in body);

describe('the starter embedding model', () => {
  it('answers the openai client without a deployment and charges the tokens', async () => {
    const before = await balance();
    const answer = await openai().embeddings.create({ model: STARTER, input: ['bread', 'dough rises'] });
    expect(answer).toMatchObject({
      object: 'list',
      model: STARTER,
      usage: { prompt_tokens: 20, total_tokens: 20 },
    });
    expect(answer.data.map(({ index }) => index)).toEqual([0, 1]);
    // The client requests base64 and decodes it to numbers.
    expect(answer.data[0]?.embedding[0]).toBeCloseTo(Math.sin(5), 6);
    expect(await paid(before)).toBe(cost(20));
    await expect
      .poll(() => serving.requests(user))
      .toMatchObject([{ ok: true, prompt_tokens: 20, completion_tokens: 0 }]);
  });

  it('returns the same numbers as floats and in base64', async () => {
    const create = (encoding_format: 'float' | 'base64') =>
      server.request(
        createEmbeddings,
        { body: { model: STARTER, input: 'bread', encoding_format } },
        { as: user },
      );
    const numbers = (await create('float')).data[0]?.embedding as number[];
    const packed = Buffer.from((await create('base64')).data[0]?.embedding as unknown as string, 'base64');
    expect(numbers).toEqual([0, 4, 8, 12].map((at) => packed.readFloatLE(at)));
  });

  it('processes many inputs in batches, in order', async () => {
    const input = Array.from({ length: 100 }, (_, index) => 'x'.repeat(1 + (index % 7)));
    const { data } = await openai().embeddings.create({ model: STARTER, input });
    expect(data.map(({ embedding }) => embedding[0]?.toFixed(5))).toEqual(
      input.map(({ length }) => Math.sin(length).toFixed(5)),
    );
    expect(asked().map(({ input: part }) => (part as string[]).length)).toEqual([32, 32, 32, 4]);
  });

  it('is listed with its task, after the text models', async () => {
    const models = (await openai().models.list()).data as (OpenAI.Model & { task: string })[];
    expect(models.find(({ id }) => id === STARTER)).toMatchObject({ task: 'embedding' });
    expect(models[0]?.task).toBe('text');
  });
});

describe('bad input', () => {
  const create = (body: object) =>
    openai().embeddings.create({ model: STARTER, ...body } as OpenAI.EmbeddingCreateParams);

  it.each([
    ['no input', {}, /input/],
    ['an empty list', { input: [] }, /no input/],
    ['an empty text', { input: '' }, /empty text/],
    ['an empty text among others', { input: ['bread', ''] }, /empty text/],
    ['3,000 inputs', { input: Array.from({ length: 3000 }, () => 'x') }, /At most 2048 inputs/],
    ['numbers that are not token ids', { input: [1.5] }, /input/],
    ['texts among token ids', { input: ['x', 7] }, /input/],
    ['an object', { input: { text: 'x' } }, /input/],
    ['another format', { input: 'x', encoding_format: 'int8' }, /encoding_format must be float or base64/],
    ['zero dimensions', { input: 'x', dimensions: 0 }, /dimensions/],
    ['dimensions of a model without support for them', { input: 'x', dimensions: 2 }, /cannot be shortened/],
    ['an unknown parameter', { input: 'x', pooling: 'max' }, /pooling/],
  ])('rejects %s by its field, free of charge', async (_case, body, message) => {
    const before = await balance();
    const error = await create(body).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect((error as Error).message).toMatch(message);
    expect(await paid(before)).toBe(0n);
    expect(asked()).toEqual([]);
  });

  it('names the path and length of an input that is too long, and charges nothing for the inputs before it', async () => {
    const before = await balance();
    const input = [...Array.from({ length: 40 }, () => 'bread'), 'x'.repeat(300)];
    await expect(create({ input })).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'input[40]',
      message: expect.stringContaining('256 tokens, but input[40] has 302'),
    });
    expect(await paid(before)).toBe(0n);
  });

  it('charges the inputs computed before a later one is rejected', async () => {
    const before = await balance();
    // These 32 inputs have more bytes but fewer characters than the last one, so they come first. The model
    // reads one token per character.
    const long = 'é'.repeat(200);
    const input = [...Array.from({ length: 32 }, () => long), 'x'.repeat(300)];
    await expect(create({ input })).rejects.toMatchObject({ status: 400, param: 'input[32]' });
    expect(await paid(before)).toBe(cost(32 * 202));
    await expect.poll(() => serving.requests(user)).toMatchObject([{ ok: false, prompt_tokens: 32 * 202 }]);
  });

  it("charges nothing if the model server's answer is too large", async () => {
    stub.answer = 'bloat';
    const before = await balance();
    await expect(create({ input: 'bread' })).rejects.toMatchObject({ status: 503 });
    expect(await paid(before)).toBe(0n);
  });

  it('charges nothing if the model server fails', async () => {
    stub.answer = 'crash';
    const before = await balance();
    await expect(create({ input: 'bread' })).rejects.toMatchObject({ status: 503 });
    expect(await paid(before)).toBe(0n);
    await expect.poll(() => serving.requests(user)).toMatchObject([{ ok: false, prompt_tokens: 0 }]);
  });
});

it('charges a client that disconnects for the computed batches', async () => {
  const before = await balance();
  const leaving = new AbortController();
  const input = Array.from({ length: 64 }, () => 'bread');
  const answer = openai().embeddings.create({ model: STARTER, input }, { signal: leaving.signal });
  // The model server hangs from the second batch on.
  const answerOf = () => (asked().length >= 2 ? 'hang' : 'ok');
  Object.defineProperty(stub, 'answer', { get: answerOf, configurable: true });
  const ended = answer.catch((error: unknown) => error);
  await vi.waitFor(() => expect(asked()).toHaveLength(2));
  leaving.abort();
  expect(await ended).toBeInstanceOf(OpenAI.APIUserAbortError);
  Object.defineProperty(stub, 'answer', { value: 'ok', writable: true, configurable: true });
  await vi.waitFor(async () => expect(await serving.requests(user)).toHaveLength(1));
  const [kept] = await serving.requests(user);
  expect(kept).toMatchObject({ ok: true });
  expect([0, 32 * 7]).toContain(kept?.prompt_tokens);
  expect(await paid(before)).toBe(cost(kept?.prompt_tokens ?? 0));
});

describe('an embedding model of a user', () => {
  it('is recognised, deployed by the text-model endpoint, and called by its name', async () => {
    const { assetId } = await insertEncoder(server.services, user, 'Rye Sentences', {
      'config.json': JSON.stringify({ model_type: 'bert', hidden_size: 4, matryoshka_dimensions: [2] }),
    });
    const { pod_id: podId } = await deploy(assetId);
    await untilRunning(podId);
    expect(await status(podId)).toMatchObject({ task: 'embedding', model_name: 'rye-sentences' });
    const { data } = await openai().embeddings.create({
      model: 'rye-sentences',
      input: 'bread',
      dimensions: 2,
    });
    expect(data[0]?.embedding).toHaveLength(2);
    expect(Math.hypot(...(data[0]?.embedding ?? []))).toBeCloseTo(1, 5);
    await expect(
      openai().embeddings.create({ model: 'rye-sentences', input: 'bread', dimensions: 3 }),
    ).rejects.toThrow('can be asked for 2');
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    await expect(openai().chat.completions.create({ model: 'rye-sentences', messages })).rejects.toThrow(
      'ask POST /v1/embeddings',
    );
  });

  it.each([
    ['a model of an unknown family', { 'config.json': '{"model_type":"t5"}' }, 'is of the type t5'],
    [
      'a model with an unknown layer',
      { 'modules.json': '[{"type":"m.Dense","path":"2_Dense"}]' },
      'names Dense',
    ],
    ['a model without a list of its modules', { 'modules.json': '{}' }, 'has no modules.json'],
  ])('rejects %s with a specific error', async (_case, files, message) => {
    const { assetId } = await insertEncoder(server.services, user, 'Odd Sentences', files);
    await expect(deploy(assetId)).rejects.toThrow(message);
  });
});

it('names the right endpoint if a model is used with the wrong one', async () => {
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  await expect(openai().chat.completions.create({ model: STARTER, messages })).rejects.toThrow(
    'ask POST /v1/embeddings',
  );
  await expect(openai().embeddings.create({ model: 'starter-model', input: 'x' })).rejects.toThrow(
    'ask POST /v1/chat/completions',
  );
  await expect(openai().embeddings.create({ model: 'no-such', input: 'x' })).rejects.toMatchObject({
    status: 404,
  });
});
