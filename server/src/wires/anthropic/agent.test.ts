import Anthropic from '@anthropic-ai/sdk';
import { expect, it } from 'vitest';
import { STARTER, starterServing } from '../../modules/deployments/testing/starter-serving.ts';

/* An agent that uses Anthropic's client. The model server writes any output that its grammar permits. */
const { stub, server, nextUser } = await starterServing();

const functions = {
  add: (a: number, b: number) => a + b,
  multiply: (a: number, b: number) => a * b,
  power: (a: number, b: number) => a ** b,
};
const names = Object.keys(functions) as (keyof typeof functions)[];
const tools = names.map((name) => ({
  ...{ name, description: `Calculates: ${name}` },
  input_schema: {
    ...{ type: 'object' as const, required: ['a', 'b'], additionalProperties: false },
    properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  },
}));

it.each([false, true])('an agent with three tools reaches its answer (streamed: %s)', async (isStreamed) => {
  const user = await nextUser();
  const client = new Anthropic({ baseURL: server.url, authToken: user.apiKey, apiKey: null, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'What is (2 + 3) …?' }];
  const answer = (tool_choice: Anthropic.ToolChoice) => {
    const asked = { model: STARTER, max_tokens: 64, messages, tools, tool_choice };
    return isStreamed ? client.messages.stream(asked).finalMessage() : client.messages.create(asked);
  };
  const results: string[] = [];
  for (const name of names) {
    stub.says = () => JSON.stringify({ name, arguments: { a: 2, b: 3 } });
    const { content, stop_reason: reason } = await answer({ type: 'tool', name });
    const [call] = content;
    if (call?.type !== 'tool_use') throw new Error('no call');
    expect(reason).toBe('tool_use');
    const { a, b } = call.input as { a: number; b: number };
    results.push(String(functions[name](a, b)));
    const result = { type: 'tool_result' as const, tool_use_id: call.id, content: results.at(-1) ?? '' };
    messages.push({ role: 'assistant', content }, { role: 'user', content: [result] });
  }
  expect(results).toEqual(['5', '6', '8']);
  stub.says = () => 'It is 8.';
  expect(await answer({ type: 'none' })).toMatchObject({
    content: [{ text: 'It is 8.' }],
    stop_reason: 'end_turn',
  });
  // The model has received its calls and their results.
  expect(stub.requests.at(-1)?.messages).toHaveLength(7);
});
