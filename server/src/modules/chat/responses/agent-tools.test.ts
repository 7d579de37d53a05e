import type OpenAI from 'openai';
import { beforeEach, expect, it } from 'vitest';
import { STARTER, starterServing } from '../../deployments/testing/starter-serving.ts';
import { stubUsage } from '../../deployments/testing/stub-model-server.ts';

const { stub, openai, nextUser, balance } = await starterServing();

beforeEach(async () => {
  await nextUser();
});

const add: OpenAI.Responses.FunctionTool = {
  ...{ type: 'function', name: 'add', description: 'Adds', strict: true },
  parameters: {
    ...{ type: 'object', required: ['a', 'b'], additionalProperties: false },
    properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  },
};
/* A request like Codex CLI's, with fewer tools and less text. */
const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
const ofCodex = {
  ...{ model: STARTER, tool_choice: 'auto', parallel_tool_calls: true, store: false },
  reasoning: { summary: 'auto' },
  include: ['reasoning.encrypted_content'],
  ...{ prompt_cache_key: 'k', client_metadata: { session_id: 's' }, truncation: 'auto' },
  input: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'developer',
      content: [{ type: 'input_text', text: 'You are an agent.' }],
    },
    { type: 'message', id: 'msg_2', role: 'user', content: [{ type: 'input_text', text: 'Say hi' }] },
  ],
  tools: [
    {
      type: 'function',
      name: 'exec_command',
      description: 'Runs',
      strict: false,
      parameters: { type: 'object' },
    },
    { type: 'namespace', name: 'crm', description: 'Customers', tools: [{ ...add, strict: false }] },
    { type: 'web_search' },
    { type: 'custom', name: 'patch', description: 'Patches', format: grammar },
    { type: 'local_shell' },
  ],
};

it.each([false, true])(
  "returns calls of namespaced and custom tools under the client's names (streamed: %s)",
  async (isStreamed) => {
    const called = ['crm__add', 'patch'].map((name) => ({
      name,
      arguments: name === 'patch' ? { input: 'a\nb' } : { a: 2, b: 3 },
    }));
    stub.says = () => JSON.stringify(called);
    const asked = { ...ofCodex, tool_choice: 'required' } as never;
    const { response: answer } = await openai().responses.create(asked).withResponse();
    expect(answer.headers.get('bakehouse-warning')).toBe(
      'ignored tools: web_search, local_shell; tools.3.format is passed to the model but not enforced; ignored truncation: an input that is too long is refused',
    );
    const response = isStreamed
      ? await openai().responses.stream(asked).finalResponse()
      : await openai().responses.create(asked);
    expect(response.output).toMatchObject([
      {
        type: 'function_call',
        namespace: 'crm',
        name: 'add',
        arguments: '{"a":2,"b":3}',
        status: 'completed',
      },
      { type: 'custom_tool_call', name: 'patch', input: 'a\nb', id: expect.stringMatching(/^ctc_/) },
    ]);
    stub.says = () => 'Done.';
    const results = response.output.map((call) => ({
      type: call.type === 'function_call' ? 'function_call_output' : 'custom_tool_call_output',
      call_id: 'call_id' in call ? call.call_id : '',
      output: call.type === 'function_call' ? [] : [{ type: 'input_text', text: 'ok' }],
    }));
    const input = [...ofCodex.input, ...response.output, ...results];
    await openai().responses.create({ ...ofCodex, input } as never);
    expect(stub.requests.at(-1)).toMatchObject({
      messages: [
        { role: 'system', content: 'You are an agent.' },
        { role: 'user', content: 'Say hi' },
        {
          role: 'assistant',
          tool_calls: [
            { function: { name: 'crm__add', arguments: '{"a":2,"b":3}' } },
            { function: { name: 'patch', arguments: '{"input":"a\\nb"}' } },
          ],
        },
        { role: 'tool', content: '' },
        { role: 'tool', content: 'ok' },
      ],
      tools: [
        { function: { name: 'exec_command' } },
        { function: { name: 'crm__add', description: 'Adds' } },
        { function: { name: 'patch', description: expect.stringContaining('start: "x"') } },
      ],
    });
  },
);

it("streams the text of a custom tool in OpenAI's events", async () => {
  stub.says = () => '{"name": "patch", "arguments": {"input": "x"}}';
  const asked = { ...ofCodex, stream: true, tool_choice: { type: 'custom', name: 'patch' } } as never;
  const stream = (await openai().responses.create(asked)) as unknown as AsyncIterable<object>;
  const events = await Array.fromAsync(stream);
  expect(events.slice(2, -1)).toMatchObject([
    { type: 'response.output_item.added', item: { type: 'custom_tool_call', name: 'patch', input: '' } },
    { type: 'response.custom_tool_call_input.delta', delta: 'x' },
    { type: 'response.custom_tool_call_input.done', input: 'x' },
    { type: 'response.output_item.done', item: { input: 'x', status: 'completed' } },
  ]);
});

it('offers only the allowed tools', async () => {
  const allowed = {
    type: 'allowed_tools',
    mode: 'auto',
    tools: [{ type: 'function', name: 'add', namespace: 'crm' }],
  };
  await openai().responses.create({ ...ofCodex, tool_choice: allowed } as never);
  expect(stub.requests.at(-1)).toMatchObject({
    tools: [{ function: { name: 'crm__add' } }],
    tool_choice: 'auto',
  });
});

it('counts the tokens of an input free of charge', async () => {
  const before = await balance();
  const { object, input_tokens: tokens } = await openai().responses.inputTokens.count(ofCodex as never);
  expect([object, tokens]).toEqual(['response.input_tokens', stubUsage.prompt_tokens]);
  expect(await balance()).toEqual(before);
});
