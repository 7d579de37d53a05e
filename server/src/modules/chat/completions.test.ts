import { listTransactions } from '@bakehouse/contract/credits';
import { formatBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestUser } from '../../testing/test-server.ts';
import { costMicro } from '../billing/prices/cost.ts';
import { defaultPrice } from '../billing/prices/default-price.ts';
import { STARTER, starterServing } from '../deployments/testing/starter-serving.ts';
import { stubUsage } from '../deployments/testing/stub-model-server.ts';

const requestCost = costMicro([
  { price: defaultPrice('prompt_tokens:CPU'), parts: BigInt(stubUsage.prompt_tokens) },
  { price: defaultPrice('completion_tokens:CPU'), parts: BigInt(stubUsage.completion_tokens) },
]);

const { stub, server, openai, nextUser, ask, balance } = await starterServing();
let user: TestUser;

beforeEach(async () => {
  user = await nextUser();
});

describe('the starter model', () => {
  it('answers the openai client without a deployment and charges the tokens', async () => {
    const before = await balance();
    const answer = await ask(STARTER);
    expect(answer.choices[0]?.message.content).toBe('Good bread.');
    expect(answer).toMatchObject({ model: STARTER, usage: stubUsage });
    await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
    expect((await balance()).balance).toBe(before.balance - requestCost);
  });

  it('charges both calls with the same Idempotency-Key, because answers are not stored', async () => {
    const before = await balance();
    const answered = stub.requests.length;
    for (let call = 0; call < 2; call += 1) {
      const { choices } = await openai().chat.completions.create(
        { model: STARTER, messages: [{ role: 'user', content: 'And?' }] },
        { headers: { 'idempotency-key': 'the-same' } },
      );
      expect(choices[0]?.message.content).toBe('Good bread.');
    }
    expect(stub.requests.length).toBe(answered + 2);
    await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
    expect((await balance()).balance).toBe(before.balance - 2n * requestCost);
  });

  it('streams without the usage unless requested', async () => {
    const stream = await openai().chat.completions.create({
      model: STARTER,
      messages: [{ role: 'user', content: 'And?' }],
      stream: true,
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('Good bread.');
    expect(chunks.some((chunk) => chunk.usage)).toBe(false);
    await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
    const { transactions } = await server.request(
      listTransactions,
      { params: { userId: user.userId }, query: {} },
      { as: user },
    );
    expect(transactions[0]).toMatchObject({ amount: formatBgl(requestCost), asset_name: STARTER });
  });

  it.each(['chat', 'plain text'])(
    'ends a streamed %s with the usage if the caller requests it',
    async (kind) => {
      const asked = { model: STARTER, stream: true, stream_options: { include_usage: true } } as const;
      const stream =
        kind === 'chat'
          ? await openai().chat.completions.create({
              ...asked,
              messages: [{ role: 'user', content: 'And?' }],
            })
          : await openai().completions.create({ ...asked, prompt: 'Bread is' });
      const chunks: { usage?: object | null; choices: unknown[] }[] = await Array.fromAsync<never>(
        stream as never,
      );
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: stubUsage });
      expect(chunks.slice(0, -1).some((chunk) => chunk.usage)).toBe(false);
    },
  );

  it('is listed for every user and found by its name', async () => {
    const { data } = await openai().models.list();
    expect(data.map((model) => model.id)).toEqual([STARTER]);
    expect(await openai().models.retrieve(STARTER)).toEqual(data[0]);
  });

  it("does not reuse another user's prompt cache, but reuses the cache for the same user's next turn", async () => {
    const asked = async (as: TestUser) => {
      await ask(STARTER, as);
      return stub.requests.at(-1);
    };
    const other = await server.signUp();
    const first = await asked(user);
    expect(first).toMatchObject({ cache_prompt: false });
    expect(await asked(user)).toMatchObject({ cache_prompt: true, id_slot: first?.id_slot });
    expect(await asked(other)).toMatchObject({ cache_prompt: false });
    // Another process may now use the model server, so the contents of its slots are unknown.
    await sql`
      insert into processes (id, machine_id, roles, since, seen_at)
      select gen_random_uuid(), id, '{web}', now(), now() from machines`.execute(server.services.db);
    await vi.waitFor(async () => expect(await asked(user)).toMatchObject({ cache_prompt: false }), {
      interval: 500,
    });
    await sql`delete from processes`.execute(server.services.db);
  });

  it('reveals nothing about the use of caches', async () => {
    const text = JSON.stringify(await ask(STARTER));
    expect(text).not.toMatch(/cache|timings|prompt_tokens_details/);
  });

  it('completes plain text', async () => {
    await openai().completions.create({ model: STARTER, prompt: 'Bread is' });
    expect(stub.requests[0]).toMatchObject({ prompt: 'Bread is' });
  });

  it.each([false, true])(
    'writes several answers to one prompt and charges the prompt once (streamed: %s)',
    async (isStreamed) => {
      const before = await balance();
      const messages = [{ role: 'user' as const, content: 'What do you bake?' }];
      const asked = { model: STARTER, messages, n: 3, seed: 5, stream_options: { include_usage: true } };
      const usage = { prompt_tokens: 11, completion_tokens: 12, total_tokens: 23 };
      if (isStreamed) {
        const said = ['', '', ''];
        const chunks = await Array.fromAsync(
          await openai().chat.completions.create({ ...asked, stream: true }),
        );
        for (const { index, delta } of chunks.flatMap(({ choices }) => choices))
          said[index] += delta.content ?? '';
        expect(said).toEqual(['Good bread.', 'Good bread.', 'Good bread.']);
        expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
        expect(chunks.at(-1)).toMatchObject({ choices: [], usage });
      } else {
        const { choices, usage: told } = await openai().chat.completions.create(asked);
        expect(choices).toMatchObject(
          [0, 1, 2].map((index) => ({ index, message: { content: 'Good bread.' }, finish_reason: 'stop' })),
        );
        expect(told).toEqual(usage);
      }
      expect(stub.requests.map(({ seed }) => seed)).toEqual([5, 6, 7]);
      await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
      const cost = costMicro([
        { price: defaultPrice('prompt_tokens:CPU'), parts: 11n },
        { price: defaultPrice('completion_tokens:CPU'), parts: 12n },
      ]);
      expect((await balance()).balance).toBe(before.balance - cost);
    },
  );

  it('answers several text prompts in one request and charges each', async () => {
    const answer = await openai().completions.create({ model: STARTER, prompt: ['Bread is', 'Rye is'] });
    expect(answer.choices.map(({ index, text }) => ({ index, text }))).toEqual([
      { index: 0, text: 'Good bread.' },
      { index: 1, text: 'Good bread.' },
    ]);
    expect(answer).toMatchObject({ object: 'text_completion', usage: { prompt_tokens: 22 } });
    expect(stub.requests.map(({ prompt }) => prompt)).toEqual(['Bread is', 'Rye is']);
  });

  it.each([
    [{ reasoning_effort: 'low' }, 'ignored reasoning effort: starter-model has no levels'],
    [{ verbosity: 'high', keep_alive: 5, brød: true }, 'ignored fields: keep_alive, br?d; ignored verbosity'],
    [{ stream: true, n_cmpl: 4, tells_stop: true }, 'ignored fields: n_cmpl, tells_stop'],
    [{ tools: [{ type: 'web_search' }] }, 'ignored tools: web_search'],
  ])('ignores unknown fields with a warning header: %j', async (more, warning) => {
    const messages = [{ role: 'user', content: 'Go' }];
    const asked = { model: STARTER, messages, ...more } as never;
    const { response } = await openai().chat.completions.create(asked).withResponse();
    expect(response.headers.get('bakehouse-warning')).toContain(warning);
    expect(response.headers.get('access-control-expose-headers')).toContain('bakehouse-warning');
    // These fields would make the model server write uncounted answers, or reveal options that this server
    // sets.
    for (const field of ['n_cmpl', 'verbose']) expect(stub.requests[0]).not.toHaveProperty(field);
  });

  it.each([
    [{ guided_json: { type: 'object' } }, 'guided_json', 'the form of an answer goes into response_format'],
    [{ system: 'Be brief.' }, 'system', 'this call does not know it'],
  ])('rejects an unknown field that would change the answer: %j', async (more, param, message) => {
    const asked = { model: STARTER, messages: [{ role: 'user', content: 'Go' }], ...more } as never;
    await expect(openai().chat.completions.create(asked)).rejects.toMatchObject({
      ...{ status: 400, param, message: expect.stringContaining(message) },
    });
    expect(stub.requests).toEqual([]);
  });

  it('continues a partial answer from the client without repeating it', async () => {
    const messages = [
      { role: 'user' as const, content: 'What do you bake?' },
      { role: 'assistant' as const, content: 'Well, ' },
    ];
    const { choices } = await openai().chat.completions.create({ model: STARTER, messages });
    expect(choices[0]?.message.content).toBe('Good bread.');
    // llama.cpp repeats the partial answer unless it streams.
    expect(stub.requests[0]).toMatchObject({ messages, stream: true });
  });

  it('does not answer for an unknown model', async () => {
    await expect(ask('no-such-model')).rejects.toMatchObject({
      status: 404,
      param: 'model',
      code: 'model_not_found',
    });
    await expect(openai().models.retrieve('no-such-model')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });
});

describe('if the model server fails', () => {
  it("returns the model server's description of a caller's error, and charges nothing", async () => {
    await ask(STARTER);
    await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
    const before = await balance();
    stub.answer = 'refuse';
    await expect(ask(STARTER)).rejects.toMatchObject({
      ...{ status: 400, code: 'context_length_exceeded', type: 'invalid_request_error', param: 'messages' },
      message: expect.stringContaining('longer than'),
    });
    await vi.waitFor(async () => expect(await balance()).toEqual(before));
  });

  it('returns 503 without a charge if the model server crashes', async () => {
    stub.answer = 'crash';
    const before = await balance();
    await expect(ask(STARTER)).rejects.toMatchObject({ status: 503 });
    await vi.waitFor(async () => expect(await balance()).toEqual(before));
  });

  it('ends a stream that breaks off with an error and charges nothing', async () => {
    stub.answer = 'break off';
    const before = await balance();
    const stream = await openai().chat.completions.create({
      model: STARTER,
      messages: [{ role: 'user', content: 'Go' }],
      stream: true,
    });
    await expect(Array.fromAsync(stream)).rejects.toThrow(/stopped in the middle/);
    await vi.waitFor(async () => expect(await balance()).toEqual(before));
  });
});
