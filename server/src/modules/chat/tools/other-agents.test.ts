import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type BaseMessageLike, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, isStepCount, jsonSchema, tool as sdkTool, streamText } from 'ai';
import { beforeEach, expect, it } from 'vitest';
import type { TestUser } from '../../../testing/test-server.ts';
import { STARTER, starterServing } from '../../deployments/testing/starter-serving.ts';
import { callsOf } from '../grammar/testing/sample-grammar.ts';

/*
 * Runs agents on LangChain and the AI SDK, unmodified. The stubbed model server writes any text that its
 * grammar allows.
 */
const { stub, server, nextUser } = await starterServing();
let user: TestUser;

type Sides = { a: number; b: number };
type Body = { grammar?: string; messages: { role: string }[] };

const names = ['add', 'multiply', 'power'] as const;
const functions = {
  add: (a: number, b: number) => a + b,
  multiply: (a: number, b: number) => a * b,
  power: (a: number, b: number) => a ** b,
};
const parameters = {
  ...{ type: 'object' as const, required: ['a', 'b'], additionalProperties: false },
  properties: { a: { type: 'integer' as const }, b: { type: 'integer' as const } },
};

beforeEach(async () => {
  user = await nextUser();
  // Call the allowed functions in order, one per request. Without a grammar, return the final answer.
  stub.says = (asked) => {
    const { grammar, messages } = asked as Body;
    const { names: offered } = callsOf(grammar);
    if (offered.length === 0) return 'It is 8.';
    const called = messages.filter(({ role }) => role === 'tool').length;
    const name = offered.length === 1 ? offered[0] : names[called % names.length];
    return JSON.stringify({ name, arguments: { a: 2, b: 3 } });
  };
});

it.each([false, true])(
  "LangChain's agent with three tools reaches its answer (streamed: %s)",
  async (streaming) => {
    const model = new ChatOpenAI({
      ...{ model: STARTER, apiKey: user.apiKey, maxRetries: 0 },
      configuration: { baseURL: `${server.url}/v1` },
    });
    const tools = names.map((name) =>
      tool(({ a, b }: Sides) => String(functions[name](a, b)), {
        ...{ name, description: `Calculates: ${name}`, schema: parameters },
      }),
    );
    const messages: BaseMessageLike[] = [['user', 'What is (2 + 3) …?']];
    const results: unknown[] = [];
    const ask = async (choice: string) => {
      const asked = model.bindTools(tools, { tool_choice: choice });
      if (!streaming) return asked.invoke(messages);
      const chunks = await Array.fromAsync(await asked.stream(messages));
      return chunks.reduce((answer, chunk) => answer.concat(chunk));
    };
    for (const name of names) {
      const answer = await ask(name);
      messages.push(answer);
      for (const { id, ...call } of answer.tool_calls ?? []) {
        const content = (await tools
          .find((one) => one.name === call.name)
          ?.func(call.args as never)) as string;
        messages.push(new ToolMessage({ tool_call_id: id ?? '', content }));
        results.push(content);
      }
    }
    expect(results).toEqual(['5', '6', '8']);
    expect((await ask('none')).content).toBe('It is 8.');
  },
);

const bakehouse = () =>
  createOpenAICompatible({ name: 'bakehouse', baseURL: `${server.url}/v1`, apiKey: user.apiKey });
const sdkTools = () =>
  Object.fromEntries(
    names.map((name) => [
      name,
      sdkTool({
        ...{
          description: `Calculates: ${name}`,
          inputSchema: jsonSchema<{ a: number; b: number }>(parameters),
        },
        execute: async ({ a, b }) => functions[name](a, b),
      }),
    ]),
  );

it('an agent of the AI SDK makes three required calls and answers', async () => {
  const { text, steps } = await generateText({
    ...{ model: bakehouse()(STARTER), tools: sdkTools(), prompt: 'What is (2 + 3) …?', maxRetries: 0 },
    stopWhen: isStepCount(4),
    prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber < 3 ? 'required' : 'none' }),
  });
  const outputs = steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output));
  expect(outputs).toEqual([5, 6, 8]);
  expect(text).toBe('It is 8.');
});

it('the AI SDK streams text', async () => {
  const { textStream } = streamText({ model: bakehouse()(STARTER), prompt: 'Well?', maxRetries: 0 });
  expect((await Array.fromAsync(textStream)).join('')).toBe('It is 8.');
});
