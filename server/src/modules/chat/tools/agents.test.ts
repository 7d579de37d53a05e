import { chatCompletions } from '@bakehouse/contract/chat';
import type OpenAI from 'openai';
import { beforeEach, expect, it, vi } from 'vitest';
import type { TestUser } from '../../../testing/test-server.ts';
import { STARTER, starterServing } from '../../deployments/testing/starter-serving.ts';
import { callsOf } from '../grammar/testing/sample-grammar.ts';

/* Runs agents on OpenAI's client. The stubbed model server writes any text that its grammar allows. */

const { stub, server, openai, nextUser, balance } = await starterServing();
let user: TestUser;

/** Returns a call of the first function that the grammar allows, with the arguments 2 and 3. */
function firstCall({ grammar }: Record<string, unknown>): string {
  const { names, isMany } = callsOf(grammar);
  if (names.length === 0) return 'It is 36.';
  const call = { name: names[0], arguments: { a: 2, b: 3 } };
  return JSON.stringify(isMany ? [call, call] : call, null, 2);
}

beforeEach(async () => {
  user = await nextUser();
  stub.says = firstCall;
});

const integer = { type: 'integer' };
const functions = {
  add: (a: number, b: number) => a + b,
  multiply: (a: number, b: number) => a * b,
  power: (a: number, b: number) => a ** b,
};
const tools = Object.keys(functions).map((name) => ({
  type: 'function' as const,
  function: {
    ...{ name, description: `Calculates: ${name}`, strict: true },
    parameters: {
      ...{ type: 'object', required: ['a', 'b'], additionalProperties: false },
      properties: { a: integer, b: integer },
    },
  },
}));
const question: OpenAI.ChatCompletionMessageParam = { role: 'user', content: 'What is (2 + 3) …?' };

it.each([false, true])(
  'an agent with three tools calls each and answers (streamed: %s)',
  async (isStreamed) => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [question];
    const results: number[] = [];
    const answer = async (tool_choice: OpenAI.ChatCompletionToolChoiceOption) => {
      const asked = { model: STARTER, messages, tools, tool_choice };
      if (!isStreamed) return (await openai().chat.completions.create(asked)).choices[0];
      return (await openai().chat.completions.stream(asked).finalChatCompletion()).choices[0];
    };
    for (const name of Object.keys(functions) as (keyof typeof functions)[]) {
      const choice = await answer({ type: 'function', function: { name } });
      expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
      const [call] = choice?.message.tool_calls ?? [];
      if (call?.type !== 'function') throw new Error('no call');
      expect(call.function.name).toBe(name);
      const { a, b } = JSON.parse(call.function.arguments) as { a: number; b: number };
      results.push(functions[name](a, b));
      messages.push(choice?.message as never, {
        role: 'tool',
        tool_call_id: call.id,
        content: String(results.at(-1)),
      });
    }
    expect(results).toEqual([5, 6, 8]);
    const last = await answer('none');
    expect(last).toMatchObject({ finish_reason: 'stop', message: { content: 'It is 36.' } });
    expect(last?.message.tool_calls).toBeUndefined();
    // The last request contains all calls and their results.
    expect(stub.requests.at(-1)?.messages).toHaveLength(7);
  },
);

it("runs an agent in the client's own runner", async () => {
  const called: unknown[] = [];
  const runner = openai().chat.completions.runTools(
    {
      model: STARTER,
      messages: [question],
      tool_choice: { type: 'function', function: { name: 'add' } },
      tools: [
        {
          type: 'function',
          function: {
            ...{ name: 'add', description: 'Adds', parse: JSON.parse },
            parameters: tools[0]?.function.parameters ?? {},
            function: (args: object) => {
              called.push(args);
              return '5';
            },
          },
        },
      ],
    },
    { maxChatCompletions: 1 },
  );
  await runner.done();
  expect(called).toEqual([{ a: 2, b: 3 }]);
});

it('makes several calls if requested', async () => {
  const { choices } = await openai().chat.completions.create({
    ...{ model: STARTER, messages: [question], tools },
    ...{ tool_choice: 'required', parallel_tool_calls: true },
  });
  const calls = choices[0]?.message.tool_calls ?? [];
  expect(calls).toHaveLength(2);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
});

it('leaves the choice of a tool to the model, and charges nothing for rejected requests', async () => {
  stub.says = null;
  const before = await balance();
  const asked = { model: STARTER, messages: [question], tools };
  await expect(openai().chat.completions.create(asked)).resolves.toMatchObject({
    choices: [{ finish_reason: 'stop', message: { content: 'Good bread.' } }],
  });
  expect(stub.requests.at(-1)).toMatchObject({
    tool_choice: 'auto',
    tools: [{ function: { name: 'add' } }, {}, {}],
  });
  await vi.waitFor(async () => expect((await balance()).held).toBe(0n));
  const after = await balance();
  expect(after.balance).toBeLessThan(before.balance);
  const body = {
    model: STARTER,
    messages: [question as never, { role: 'tool' as const, content: '5', tool_call_id: 'call_1' }],
  };
  await expect(server.request(chatCompletions, { body }, { as: user })).rejects.toMatchObject({
    status: 400,
    body: { error: { param: 'messages.1.role' } },
  });
  expect(await balance()).toEqual(after);
});
