import { createResponse } from '@bakehouse/contract/responses';
import { sql } from 'kysely';
import type OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import type { TestUser } from '../../../testing/test-server.ts';
import { STARTER, starterServing } from '../../deployments/testing/starter-serving.ts';
import { stubUsage } from '../../deployments/testing/stub-model-server.ts';
import { pruneChatDataJob } from '../jobs/prune-chat-data.ts';

const { stub, server, openai, nextUser, balance } = await starterServing();
let user: TestUser;

beforeEach(async () => {
  user = await nextUser();
});

const usage = {
  input_tokens: stubUsage.prompt_tokens,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: stubUsage.completion_tokens,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: stubUsage.total_tokens,
};
const add: OpenAI.Responses.FunctionTool = {
  ...{ type: 'function', name: 'add', description: 'Adds', strict: true },
  parameters: {
    ...{ type: 'object', required: ['a', 'b'], additionalProperties: false },
    properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  },
};
const reference = (index: number) => ({ type: 'item_reference', id: `msg_${index}` });
const writesCall = () => '{"name": "add", "arguments": {"a": 2, "b": 3}}';

describe("OpenAI's client", () => {
  it('creates a response, charged as a chat', async () => {
    const before = await balance();
    const response = await openai().responses.create({
      ...{ model: STARTER, input: 'What do you bake?', instructions: 'Be brief.' },
      ...{ max_output_tokens: 50, metadata: { shop: 'north' } },
    });
    expect(response.output_text).toBe('Good bread.');
    expect(response).toMatchObject({
      ...{ object: 'response', status: 'completed', model: STARTER, usage, metadata: { shop: 'north' } },
      ...{ store: true, instructions: 'Be brief.', max_output_tokens: 50, error: null },
    });
    expect(stub.requests.at(-1)).toMatchObject({
      max_tokens: 50,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What do you bake?' },
      ],
    });
    await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
    const paid = before.balance - (await balance()).balance;
    const between = await balance();
    await openai().chat.completions.create({ model: STARTER, messages: [{ role: 'user', content: 'And?' }] });
    await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
    expect(between.balance - (await balance()).balance).toBe(paid);
  });

  it('streams events that add up to the response', async () => {
    const stream = openai().responses.stream({ model: STARTER, input: 'What do you bake?' });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      ...['Good', ' ', 'bread', '.'].map(() => 'response.output_text.delta'),
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const last = await stream.finalResponse();
    expect(last).toMatchObject({ output_text: 'Good bread.', status: 'completed', usage });
    expect(new Set(events.flatMap((event) => ('item_id' in event ? [event.item_id] : [])))).toEqual(
      new Set(last.output.map(({ id }) => id)),
    );
  });

  it.each([false, true])(
    'calls a function and continues with the result (streamed: %s)',
    async (isStreamed) => {
      stub.says = writesCall;
      const asked = { model: STARTER, tools: [add], tool_choice: { type: 'function' as const, name: 'add' } };
      const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'What is 2 + 3?' }];
      const first = isStreamed
        ? await openai()
            .responses.stream({ ...asked, input })
            .finalResponse()
        : await openai().responses.create({ ...asked, input });
      const [call] = first.output;
      if (call?.type !== 'function_call') throw new Error('no call');
      expect(call).toMatchObject({ name: 'add', status: 'completed', id: expect.stringMatching(/^fc_/) });
      expect(JSON.parse(call.arguments)).toEqual({ a: 2, b: 3 });
      stub.says = () => 'It is 5.';
      const last = await openai().responses.create({
        ...{ model: STARTER, tools: [add], tool_choice: 'none' },
        input: [
          ...input,
          ...(first.output as []),
          { type: 'function_call_output', call_id: call.call_id, output: '5' },
        ],
      });
      expect(last.output_text).toBe('It is 5.');
      expect(stub.requests.at(-1)?.messages).toEqual([
        { role: 'user', content: 'What is 2 + 3?' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            {
              id: call.call_id,
              type: 'function',
              function: { name: 'add', arguments: '{"a": 2, "b": 3}' },
            },
          ],
        },
        { role: 'tool', content: '5', tool_call_id: call.call_id },
      ]);
    },
  );

  it('parses an answer that is bound to a schema', async () => {
    stub.says = () => '{"loaf": "rye"}';
    const response = await openai().responses.parse({
      ...{ model: STARTER, input: 'Which loaf?' },
      text: { format: zodTextFormat(z.object({ loaf: z.string() }), 'loaf') },
    });
    expect(response.output_parsed).toEqual({ loaf: 'rye' });
    expect(stub.requests.at(-1)).toMatchObject({
      grammar: expect.stringContaining('loaf'),
    });
  });

  it('reports a broken-off stream in the stream and charges nothing', async () => {
    stub.answer = 'break off';
    const before = await balance();
    const stream = await openai().responses.create({ model: STARTER, input: 'Go', stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow(/stopped in the middle/);
    await vi.waitFor(async () => expect(await balance()).toEqual(before));
  });

  it('retrieves, continues and deletes a stored response, which no other user can', async () => {
    const first = await openai().responses.create({ model: STARTER, input: 'What do you bake?' });
    expect(first).toMatchObject({ store: true });
    expect(await openai().responses.retrieve(first.id)).toEqual({ ...first, _request_id: undefined });
    const next = await openai().responses.create({
      ...{ model: STARTER, input: 'And on Sundays?', previous_response_id: first.id },
      ...{ instructions: 'Be brief.', stream: true },
    });
    const events = await Array.fromAsync(next);
    const last = events.at(-1);
    if (last?.type !== 'response.completed') throw new Error(last?.type);
    expect(last.response).toMatchObject({ previous_response_id: first.id, store: true });
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What do you bake?' },
      { role: 'assistant', content: 'Good bread.' },
      { role: 'user', content: 'And on Sundays?' },
    ];
    expect(stub.requests.at(-1)?.messages).toEqual(messages);
    const items = await Array.fromAsync(openai().responses.inputItems.list(last.response.id, { limit: 2 }));
    expect(items.map((item) => 'content' in item && item.content)).toEqual([
      [{ type: 'input_text', text: 'And on Sundays?' }],
      [expect.objectContaining({ type: 'output_text', text: 'Good bread.' })],
      [{ type: 'input_text', text: 'What do you bake?' }],
    ]);
    const other = openai(await server.signUp());
    const refused = [
      other.responses.retrieve(first.id),
      other.responses.delete(first.id),
      other.responses.inputItems.list(first.id),
      other.responses.create({ model: STARTER, input: 'Go', previous_response_id: first.id }),
      other.responses.create({
        ...{ model: STARTER, input: [{ type: 'item_reference', id: first.output[0]?.id ?? '' }] },
      }),
    ];
    await Promise.all(
      refused.map((asked) => expect(asked).rejects.toThrow(/There is no response|there is no item/)),
    );
    await openai().responses.delete(first.id);
    await expect(openai().responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
    // The last response stores its whole input, so it does not need the deleted ones.
    expect((await openai().responses.retrieve(last.response.id)).output_text).toBe('Good bread.');
  });

  it('accepts ids of earlier answers as input items', async () => {
    const first = await openai().responses.create({ model: STARTER, input: 'What do you bake?' });
    const [message] = first.output;
    await openai().responses.create({
      model: STARTER,
      input: [
        { role: 'user', content: 'What do you bake?' },
        { type: 'item_reference', id: message?.id ?? '' },
        { role: 'user', content: 'Why?' },
      ],
    });
    expect(stub.requests.at(-1)?.messages).toEqual([
      { role: 'user', content: 'What do you bake?' },
      { role: 'assistant', content: 'Good bread.' },
      { role: 'user', content: 'Why?' },
    ]);
  });

  it('stores no response if the caller declines, and none beyond its expiry', async () => {
    const unkept = await openai().responses.create({ model: STARTER, input: 'Go', store: false });
    expect(unkept).toMatchObject({ store: false });
    await expect(openai().responses.retrieve(unkept.id)).rejects.toThrow(/There is no response/);
    const kept = await openai().responses.create({ model: STARTER, input: 'Go' });
    const { services } = server;
    const { db, clock } = services;
    const forgetAfter = (days: number) => {
      const now = () => new Date((kept.created_at + days * 24 * 3_600) * 1000);
      const later = { ...services, clock: { ...clock, now } };
      return pruneChatDataJob.run(later, {}, AbortSignal.timeout(10_000));
    };
    await forgetAfter(29);
    expect((await openai().responses.retrieve(kept.id)).id).toBe(kept.id);
    await forgetAfter(31);
    await expect(openai().responses.retrieve(kept.id)).rejects.toMatchObject({ status: 404 });
    expect(
      await db.selectFrom('responses').select('id').where('user_id', '=', user.userId).execute(),
    ).toEqual([]);
  });
});

it.each([false, true])(
  'delivers and charges an answer that cannot be stored, and reports that it was not stored (streamed: %s)',
  async (isStreamed) => {
    const { db } = server.services;
    await sql`alter table responses add constraint full_disk check (false) not valid`.execute(db);
    try {
      const before = await balance();
      const client = openai().responses;
      const response = isStreamed
        ? await client.stream({ model: STARTER, input: 'Go' }).finalResponse()
        : await client.create({ model: STARTER, input: 'Go' });
      expect(response).toMatchObject({ status: 'completed', output_text: 'Good bread.', store: false });
      await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
      expect((await balance()).balance).toBeLessThan(before.balance);
      await expect(client.retrieve(response.id)).rejects.toMatchObject({ status: 404 });
    } finally {
      await sql`alter table responses drop constraint full_disk`.execute(db);
    }
  },
);

it('stores an answer without the NULs that the model wrote', async () => {
  stub.says = () => 'rye\0bread';
  const response = await openai().responses.create({ model: STARTER, input: 'Go' });
  expect(response).toMatchObject({ store: true });
  expect((await openai().responses.retrieve(response.id)).output_text).toBe('ryebread');
});

it('stores only known fields of the input, and only items that a model reads', async () => {
  const input = [
    { type: 'reasoning', summary: [], thought: 'x'.repeat(1000) },
    { role: 'user', content: [{ type: 'input_text', text: 'Go', more: 'x'.repeat(1000) }], extra: { a: 1 } },
  ];
  const response = await openai().responses.create({ model: STARTER, input: input as never });
  const items = await Array.fromAsync(openai().responses.inputItems.list(response.id));
  expect(items).toEqual([
    {
      ...{ type: 'message', role: 'user', status: 'completed', id: expect.stringMatching(/^msg_/) },
      content: [{ type: 'input_text', text: 'Go' }],
    },
  ]);
});

it('refuses to continue a conversation of more than 1 MB, free of charge', async () => {
  const first = await openai().responses.create({ model: STARTER, input: 'Go' });
  await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
  const { db } = server.services;
  await sql`update responses set input = jsonb_build_array(jsonb_build_object('type', 'message', 'role', 'user',
    'content', repeat('x', 1024 * 1024 - 100))) where id = ${first.id}`.execute(db);
  const before = await balance();
  const asked = { model: STARTER, input: 'And?', previous_response_id: first.id };
  await expect(openai().responses.create(asked)).rejects.toMatchObject({
    ...{ status: 400, param: 'previous_response_id', message: expect.stringContaining('more than 1 MB') },
  });
  expect(await balance()).toEqual(before);
});

it.each([
  [{ input: [] }, 'input'],
  [{ tools: [{ type: 'custom' }] }, 'tools.0.name', 'is required'],
  [{ tools: [{ type: 'web_search' }], tool_choice: 'required' }, 'tool_choice', "needs 'tools'"],
  [
    { tools: [{ type: 'namespace', name: 'crm', tools: [{ ...add, parameters: { type: 'string' } }] }] },
    'tools.0.tools.0.parameters.type',
    "must be 'object'",
  ],
  [{ tools: [{ ...add, parameters: { type: 'string' } }] }, 'tools.0.parameters.type', "must be 'object'"],
  [{ tools: [add], tool_choice: { type: 'function', name: 'divide' } }, 'tool_choice', "no 'divide'"],
  [{ text: { format: { type: 'json_schema', schema: [] } } }, 'text.format.schema', 'must be a JSON Schema'],
  [{ background: true }, 'background', 'answered at once'],
  [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input.0.id', "no item 'msg_1'"],
  [{ input: [reference(1), reference(2), reference(1)] }, 'input.2.id', 'input.0 names it already'],
  [{ input: Array.from({ length: 101 }, (_, index) => reference(index)) }, 'input', 'at most 100 items'],
  [{ conversation: 'conv_1' }, 'conversation', 'Send previous_response_id'],
  [{ input: [{ type: 'computer_call' }] }, 'input.0.type', 'must be one of message'],
  [
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://example.com' }] }] },
    'input.0.content.0',
    'cannot see pictures',
  ],
  [
    { input: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
    'input.0.content.0',
    'must be text: {"type": "input_text", "text": …}. User messages',
  ],
  [
    {
      input: [
        { role: 'user', content: 'Go' },
        { type: 'function_call_output', call_id: 'x', output: '5' },
      ],
    },
    'input.1.role',
    "a 'tool' turn follows",
  ],
  [{ input: 'x'.repeat(600_000) }, 'input', 'maximum context length is 8192 tokens'],
  [{ stop: 'x' }, 'stop', 'does not know it'],
] as [object, string, string?][])('rejects %j by its field', async (more, param, words = '') => {
  const before = await balance();
  const body = { model: STARTER, input: 'Go', ...more } as never;
  await expect(server.request(createResponse, { body }, { as: user })).rejects.toMatchObject({
    status: 400,
    body: { error: { param, message: expect.stringContaining(words) } },
  });
  expect(await balance()).toEqual(before);
});
