import Anthropic from '@anthropic-ai/sdk';
import { createMessage } from '@bakehouse/contract/messages';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { STARTER, starterServing } from '../../modules/deployments/testing/starter-serving.ts';
import { stubUsage } from '../../modules/deployments/testing/stub-model-server.ts';
import type { TestUser } from '../../testing/test-server.ts';

const { stub, server, openai, nextUser, balance } = await starterServing();
let user: TestUser;
let anthropic: Anthropic;

beforeEach(async () => {
  user = await nextUser();
  anthropic = new Anthropic({ baseURL: server.url, apiKey: user.apiKey, maxRetries: 0 });
});

const question = { role: 'user' as const, content: 'What do you bake?' };
const asked = { model: STARTER, max_tokens: 50, messages: [question] };
const usage = { input_tokens: stubUsage.prompt_tokens, output_tokens: stubUsage.completion_tokens };
const add: Anthropic.Tool = {
  ...{ name: 'add', description: 'Adds' },
  input_schema: {
    ...{ type: 'object', required: ['a', 'b'], additionalProperties: false },
    properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  },
};
const writesCall = () => '{"name": "add", "arguments": {"a": 2, "b": 3}}';

/** Returns what the user was charged, once all reserved credits are released. */
async function paid(before: { balance: bigint }): Promise<bigint> {
  await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
  return before.balance - (await balance()).balance;
}

describe("Anthropic's client", () => {
  it('creates a message, charged as a chat', async () => {
    const before = await balance();
    const { _request_id: requestId, ...message } = await anthropic.messages.create({
      ...{ ...asked, system: [{ type: 'text', text: 'Be brief.' }], metadata: { user_id: 'u' } },
      ...{ temperature: 0.5, top_p: 0.9, top_k: 40 },
    });
    expect(message).toMatchObject({
      ...{ id: expect.stringMatching(/^msg_/), type: 'message', role: 'assistant', model: STARTER },
      ...{ content: [{ type: 'text', text: 'Good bread.' }], stop_reason: 'end_turn', usage },
    });
    expect(requestId).toEqual(expect.any(String));
    expect(stub.requests.at(-1)).toMatchObject({
      messages: [{ role: 'system', content: 'Be brief.' }, question],
      ...{ max_tokens: 50, temperature: 0.5, top_p: 0.9, top_k: 40 },
    });
    const cost = await paid(before);
    const between = await balance();
    await openai().chat.completions.create({ model: STARTER, messages: [question] });
    expect(cost).toBeGreaterThan(0n);
    expect(await paid(between)).toBe(cost);
  });

  it('streams a message, which the client joins', async () => {
    const types: string[] = [];
    const stream = anthropic.messages.stream(asked).on('streamEvent', ({ type }) => types.push(type));
    const message = await stream.finalMessage();
    expect(message).toMatchObject({ content: [{ text: 'Good bread.' }], stop_reason: 'end_turn', usage });
    expect(types).toEqual([
      ...['message_start', 'content_block_start', ...Array.from({ length: 4 }, () => 'content_block_delta')],
      ...['content_block_stop', 'message_delta', 'message_stop'],
    ]);
  });

  it.each([false, true])('calls a tool and continues with its result (streamed: %s)', async (isStreamed) => {
    stub.says = writesCall;
    const forced = { ...asked, tools: [add], tool_choice: { type: 'tool' as const, name: 'add' } };
    const message = isStreamed
      ? await anthropic.messages.stream(forced).finalMessage()
      : await anthropic.messages.create(forced);
    expect(message).toMatchObject({
      ...{ stop_reason: 'tool_use' },
      content: [
        { type: 'tool_use', id: expect.stringMatching(/^toolu_/), name: 'add', input: { a: 2, b: 3 } },
      ],
    });
    stub.says = () => 'It is 5.';
    const [call] = message.content;
    const result = { type: 'tool_result' as const, tool_use_id: (call as { id: string }).id, content: '5' };
    const answer = await anthropic.messages.create({
      ...forced,
      tool_choice: { type: 'none' },
      messages: [
        question,
        { role: 'assistant', content: message.content },
        { role: 'user', content: [result, { type: 'text', text: 'So?' }] },
      ],
    });
    expect(answer.content).toMatchObject([{ text: 'It is 5.' }]);
    expect(stub.requests.at(-1)?.messages).toMatchObject([
      question,
      { role: 'assistant', tool_calls: [{ function: { name: 'add', arguments: '{"a":2,"b":3}' } }] },
      { role: 'tool', content: '5', tool_call_id: result.tool_use_id },
      { role: 'user', content: 'So?' },
    ]);
  });

  it('lets the model choose a tool, and permits only one call at a time if requested', async () => {
    await anthropic.messages.create({
      ...{ ...asked, tools: [add], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    });
    expect(stub.requests.at(-1)).toMatchObject({
      ...{ tool_choice: 'auto', parallel_tool_calls: false, tools: [{ function: { name: 'add' } }] },
    });
  });

  it('reports the stop text that ended an answer', async () => {
    stub.says = () => 'Good bread. END of it';
    const message = await anthropic.messages.create({ ...asked, stop_sequences: ['END'] });
    expect(message).toMatchObject({
      ...{ content: [{ text: 'Good bread. ' }], stop_reason: 'stop_sequence', stop_sequence: 'END' },
    });
  });

  it('counts tokens free of charge', async () => {
    const before = await balance();
    const { max_tokens: _, ...read } = asked;
    expect(await anthropic.messages.countTokens({ ...read, tools: [add] })).toEqual({
      input_tokens: stubUsage.prompt_tokens,
    });
    expect(stub.requests.at(-1)).toMatchObject({ messages: [question], tools: [{}] });
    await vi.waitFor(async () => expect(await balance()).toEqual(before));
  });

  it.each([
    [{ thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2000 }, true],
    [{ thinking: { type: 'disabled' } }, false],
  ])('passes on whether the model thinks: %j', async (more, isThinking) => {
    await anthropic.messages.create({ ...asked, ...more } as never);
    expect(stub.requests.at(-1)).toMatchObject({ chat_template_kwargs: { enable_thinking: isThinking } });
  });

  it("accepts a bearer token and returns errors in Anthropic's format", async () => {
    const bearer = new Anthropic({
      baseURL: server.url,
      authToken: user.apiKey,
      apiKey: null,
      maxRetries: 0,
    });
    expect((await bearer.messages.create(asked)).content).toHaveLength(1);
    const stranger = new Anthropic({ baseURL: server.url, apiKey: 'bk_none', maxRetries: 0 });
    await expect(stranger.messages.create(asked)).rejects.toThrow(Anthropic.AuthenticationError);
    await expect(anthropic.messages.create({ ...asked, model: 'no-such' })).rejects.toMatchObject({
      ...{ status: 404, requestID: expect.any(String) },
      error: {
        type: 'error',
        error: { type: 'not_found_error', message: expect.stringContaining("'no-such'") },
      },
    });
    stub.answer = 'refuse';
    await expect(anthropic.messages.create(asked)).rejects.toMatchObject({
      ...{ status: 400, error: { error: { type: 'invalid_request_error' } } },
      message: expect.stringContaining('prompt is too long: '),
    });
    stub.answer = 'crash';
    await expect(anthropic.messages.create(asked)).rejects.toMatchObject({
      ...{ status: 529, error: { error: { type: 'overloaded_error' } } },
    });
  });

  it('reports a model server that fails in the middle of a stream as an event, and charges nothing', async () => {
    stub.answer = 'break off';
    const before = await balance();
    await expect(anthropic.messages.stream(asked).finalMessage()).rejects.toThrow(/stopped in the middle/);
    expect(await paid(before)).toBe(0n);
  });
});

const use = { type: 'tool_use', id: 'toolu_1', name: 'add', input: {} };
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: '5' };
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const answers = (...content: object[]) => ({ role: 'user', content });

it.each([
  [{ max_tokens: undefined }, 'max_tokens is required'],
  [{ messages: [] }, 'messages must have at least 1 item'],
  [
    { messages: [{ role: 'baker', content: 'Hm' }] },
    "messages.0.role must be 'user', 'assistant' or 'system'",
  ],
  [
    { messages: [answers({ type: 'document', source: { type: 'base64', data: '' } })] },
    'only the text of a document can be read here',
  ],
  [
    { messages: [answers({ type: 'image', source: {} })] },
    "messages.0.content.0.source.type must be 'base64' or 'url': send the picture or its address",
  ],
  [
    { messages: [answers({ type: 'oven' })] },
    "must be text or image or tool_result or document: 'oven' is no block of a user turn",
  ],
  [{ messages: [answers({ type: 'text' })] }, 'messages.0.content.0.text is required'],
  [{ messages: [answers({ type: 'text', text: '' })] }, 'messages: there is no text in them to answer'],
  [{ messages: [question, assistant(use)] }, 'messages.1.content: the conversation goes on with'],
  [
    { messages: [question, assistant(use), question] },
    "messages.2.content: the tool_use 'toolu_1' of the turn before",
  ],
  [
    { messages: [answers(result)] },
    "messages.0.content.0.tool_use_id: the turn before has no tool_use 'toolu_1'",
  ],
  [
    { messages: [question, assistant(use), answers({ type: 'text', text: 'So' }, result)] },
    'messages.2.content.1: tool_result blocks come before the text',
  ],
  [
    { messages: [question, assistant(use, use)] },
    'messages.1.content.1.id: each tool_use must have a unique id',
  ],
  [{ tools: [{ input_schema: add.input_schema }] }, 'tools.0.name is required'],
  [{ tools: [{ name: 'add' }] }, 'tools.0.input_schema is required'],
  [{ tools: [{ ...add, input_schema: { type: 'string' } }] }, "tools.0.input_schema.type must be 'object'"],
  [{ tools: [add, add] }, "tools.1.name: there are two 'add'"],
  [{ tool_choice: { type: 'any' } }, "tool_choice: 'any' needs 'tools'"],
  [{ tools: [add], tool_choice: { type: 'tool' } }, 'tool_choice.name is required'],
  [{ tools: [add], tool_choice: { type: 'tool', name: 'divide' } }, "no 'divide' in 'tools'"],
  [
    { thinking: { type: 'enabled', budget_tokens: 2000 } },
    'thinking.budget_tokens must be less than max_tokens',
  ],
  [{ container: 'c' }, 'this server runs no code'],
  [{ n: 2 }, 'n must be left out: this call does not know it'],
] as [object, string][])('rejects %j with a sentence, free of charge', async (more, words) => {
  const before = await balance();
  const body = { ...asked, ...more } as never;
  await expect(server.request(createMessage, { body }, { as: user })).rejects.toMatchObject({
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining(words) },
    },
  });
  expect(stub.requests).toEqual([]);
  expect(await balance()).toEqual(before);
});

it("rejects server-side threads, so that the client's runners send the whole conversation", async () => {
  const body = { ...asked, thread: { type: 'create' } } as never;
  await expect(server.request(createMessage, { body }, { as: user })).rejects.toMatchObject({
    status: 400,
    body: {
      error: {
        message: 'thread: this server holds no conversations. Leave it out, and send all messages',
        details: { error_code: 'thread_unsupported_request' },
      },
    },
  });
  const runner = anthropic.beta.messages.toolRunner({
    ...asked,
    ...{ tools: [], max_iterations: 1 },
  });
  await expect(runner.runUntilDone()).resolves.toMatchObject({ stop_reason: 'end_turn' });
});

it("lists models in Anthropic's format, and rejects unsupported endpoints in it", async () => {
  const page = await anthropic.models.list();
  expect(page.hasNextPage()).toBe(false);
  const model = { type: 'model', id: STARTER, display_name: STARTER, created_at: expect.any(String) };
  expect(page.data).toContainEqual(expect.objectContaining(model));
  expect(await anthropic.models.retrieve(STARTER)).toMatchObject(model);
  const error = { type: 'not_found_error', message: expect.any(String) };
  for (const call of [
    () => anthropic.models.retrieve('nothing'),
    () => anthropic.messages.batches.list(),
    () => anthropic.messages.batches.retrieve('msgbatch_1'),
    () => anthropic.beta.files.retrieveMetadata('file_1'),
    () => anthropic.beta.files.list(),
  ])
    await expect(call()).rejects.toMatchObject({ status: 404, error: { type: 'error', error } });
  expect(await openai().models.retrieve(STARTER)).not.toHaveProperty('display_name');
});

it('rejects older API versions', async () => {
  const older = new Anthropic({
    ...{ baseURL: server.url, apiKey: user.apiKey, maxRetries: 0 },
    defaultHeaders: { 'anthropic-version': '2023-01-01' },
  });
  await expect(older.messages.create(asked)).rejects.toThrow(
    'this server speaks 2023-06-01 and what came after',
  );
});

/* A request in the form of Claude Code, with fewer tools and less text. */
const ofClaudeCode = {
  ...{ model: STARTER, max_tokens: 8000 },
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Fetch the price.' }] },
    {
      role: 'system',
      content: [{ type: 'text', text: 'Deferred tools: WebFetch', cache_control: { type: 'ephemeral' } }],
    },
    { role: 'assistant', content: [{ ...use, name: 'ToolSearch', input: { query: 'select:WebFetch' } }] },
    { role: 'system', content: 'Be quick.' },
    answers({ ...result, content: [{ type: 'tool_reference', tool_name: 'WebFetch' }] }),
  ],
  system: [{ type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral' } }],
  tools: [
    { name: 'Bash', description: 'x'.repeat(10_000), input_schema: { type: 'object' } },
    {
      name: 'DeferredToolPlaceholder',
      input_schema: { type: 'object', properties: {} },
      defer_loading: true,
    },
    { name: 'WebFetch', input_schema: { type: 'object' }, defer_loading: true },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 8 },
  ],
  metadata: { user_id: '{}' },
  thinking: { type: 'adaptive', display: 'omitted' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  output_config: { effort: 'high' },
};

it('answers the request of a coding agent with warnings about ignored fields', async () => {
  const { data, response } = await anthropic.beta.messages
    .create({ ...ofClaudeCode, fallback: 'x', betas: ['mid-conversation-system-2026-04-07'] } as never)
    .withResponse();
  // Clients fail if a field is null that Anthropic's API would omit.
  expect(data.content).toEqual([{ type: 'text', text: 'Good bread.' }]);
  expect(JSON.stringify(data).replace('"stop_sequence":null', '')).not.toContain('null');
  expect(response.headers.get('bakehouse-warning')).toBe(
    'ignored fields: fallback; ignored tools: web_search_20250305; ignored reasoning effort: starter-model has no levels',
  );
  const [read] = stub.requests;
  expect(read?.messages).toMatchObject([
    { role: 'system', content: 'You are an agent.' },
    {
      role: 'user',
      content: 'Fetch the price.\n<system-reminder>\nDeferred tools: WebFetch\n</system-reminder>',
    },
    { role: 'assistant', tool_calls: [{ id: 'toolu_1', function: { name: 'ToolSearch' } }] },
    { role: 'tool', content: 'The tool WebFetch can be called now' },
    { role: 'user', content: '<system-reminder>\nBe quick.\n</system-reminder>' },
  ]);
  const offered = ((read?.tools ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);
  expect(offered).toEqual(['Bash', 'WebFetch']);
  const { max_tokens: _, ...counted } = ofClaudeCode;
  expect(await anthropic.beta.messages.countTokens(counted as never)).toMatchObject({ input_tokens: 11 });
});

it("names a tool's field by the index that the client sent, even if earlier tools are dropped", async () => {
  const tools = [
    { type: 'bash_20250124', name: 'bash' },
    { ...add, input_schema: { type: 'string' } },
  ];
  await expect(anthropic.messages.create({ ...asked, tools } as never)).rejects.toThrow(
    'tools.1.input_schema.type must be',
  );
});

it('reads text documents, empty results and an empty system prompt', async () => {
  const source = { type: 'text', media_type: 'text/plain', data: 'Rye costs 3.' };
  const blocks = [{ type: 'text', text: 'Whole.' }];
  await anthropic.messages.create({
    ...{ ...asked, system: null },
    messages: [
      question,
      assistant(use),
      answers(
        { ...result, content: [] },
        { type: 'document', source, title: 'Prices' },
        { type: 'document', source: { type: 'content', content: blocks } },
        { type: 'text', text: 'How much is rye?' },
      ),
    ],
  } as never);
  expect(stub.requests.at(-1)?.messages).toMatchObject([
    question,
    { role: 'assistant' },
    { role: 'tool', content: '' },
    { role: 'user', content: 'Prices\nRye costs 3.\nWhole.\nHow much is rye?' },
  ]);
});

it('merges consecutive turns of one role and drops thoughts', async () => {
  const text = (words: string) => ({ type: 'text' as const, text: words });
  const thought = { type: 'thinking' as const, thinking: 'Hm', signature: '' };
  const failed = { ...result, type: 'tool_result' as const, content: [text('no oven')], is_error: true };
  await anthropic.messages.create({
    ...asked,
    messages: [
      { role: 'user', content: 'One.' },
      { role: 'user', content: [text('Two.'), text('Three.')] },
      { role: 'assistant', content: [thought, text('Well'), { ...use, type: 'tool_use' as const }] },
      { role: 'user', content: [failed] },
    ],
  });
  expect(stub.requests.at(-1)?.messages).toMatchObject([
    { role: 'user', content: 'One.\nTwo.\nThree.' },
    { role: 'assistant', content: 'Well', tool_calls: [{ id: 'toolu_1' }] },
    { role: 'tool', content: 'Error: no oven' },
  ]);
});
