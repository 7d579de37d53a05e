import { expect, test } from 'vitest';
import { WholeAnswer } from '../answer-shape.ts';
import type { Chunk } from '../completion-stream.ts';
import { CustomCalls, isCustomOf, withFunctions } from './chat-tools.ts';
import { functionNameOf } from './client-tools.ts';

const grammar = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } };
const patch = { type: 'custom', custom: { name: 'patch', description: 'Patches', format: grammar } };
const add = {
  type: 'function',
  function: { name: 'add', description: 'Adds', parameters: { type: 'object' } },
};
const say = { type: 'function', function: { name: 'say', parameters: { type: 'object' } } };

test('offers a custom tool as a function with one text, and its grammar in the description', () => {
  const called = { id: 'c1', type: 'custom', custom: { name: 'patch', input: 'a "b"' } };
  const { body, offered } = withFunctions({
    ...{ model: 'm', tools: [{ type: 'web_search' }, add, patch] },
    tool_choice: { type: 'custom', custom: { name: 'patch' } },
    messages: [{ role: 'assistant', tool_calls: [called] }],
  });
  expect(body).toMatchObject({
    tool_choice: { type: 'function', function: { name: 'patch' } },
    messages: [
      {
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'patch', arguments: '{"input":"a \\"b\\""}' } },
        ],
      },
    ],
    tools: [
      add,
      {
        type: 'function',
        function: {
          name: 'patch',
          description: 'Patches\n\nThe input follows this grammar (lark):\nstart: "x"',
          parameters: { properties: { input: { type: 'string' } }, required: ['input'] },
        },
      },
    ],
  });
  expect(offered).toMatchObject({
    places: ['tools.1', 'tools.2'],
    warnings: ['ignored tools: web_search', 'tools.2.format is passed to the model but not enforced'],
  });
});

test('offers only the allowed tools', () => {
  const allowed = { mode: 'required', tools: [{ type: 'function', function: { name: 'say' } }] };
  const choice = { type: 'allowed_tools', allowed_tools: allowed };
  const { body } = withFunctions({ model: 'm', tools: [add, say], tool_choice: choice });
  expect(body).toMatchObject({ tools: [say], tool_choice: 'required' });
});

test('leaves a chat without tools unchanged', () => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
  expect(withFunctions(body)).toEqual({ body, offered: null });
});

test('returns the calls of a custom tool as text, whole and streamed', () => {
  const isCustom = isCustomOf(new Map([['patch', { type: 'custom', name: 'patch' }]]));
  const head = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const chunk = (calls: object[], reason: string | null = null): Chunk => ({
    ...head,
    choices: [{ index: 0, delta: { tool_calls: calls as never }, finish_reason: reason }],
  });
  const chunks = [
    chunk([{ index: 0, id: 'c1', type: 'function', function: { name: 'patch', arguments: '{"in' } }]),
    chunk([{ index: 0, function: { arguments: 'put":"a\\nb"}' } }]),
    chunk([{ index: 1, id: 'c2', type: 'function', function: { name: 'add', arguments: '{}' } }]),
    chunk([{ index: 2, id: 'c3', type: 'function', function: { name: 'patch', arguments: '{"input":"c' } }]),
    chunk([], 'length'),
  ];
  const streamed = new CustomCalls(isCustom);
  const deltas = chunks.map((one) => (streamed.rewrite(one) as Chunk).choices[0]?.delta?.tool_calls);
  expect(deltas).toEqual([
    [{ index: 0, id: 'c1', type: 'custom', custom: { name: 'patch', input: '' } }],
    undefined,
    [{ index: 0, custom: { input: 'a\nb' } }, chunks[2]?.choices[0]?.delta?.tool_calls?.[0]],
    [{ index: 2, id: 'c3', type: 'custom', custom: { name: 'patch', input: '' } }],
    [{ index: 2, custom: { input: '{"input":"c' } }],
  ]);
  const whole = new WholeAnswer(isCustom);
  for (const one of chunks) whole.add(one);
  expect(whole.toJson({ promptTokens: 1, completionTokens: 1 })).toMatchObject({
    choices: [
      {
        message: {
          tool_calls: [
            { id: 'c1', type: 'custom', custom: { name: 'patch', input: 'a\nb' } },
            { id: 'c2', type: 'function', function: { name: 'add', arguments: '{}' } },
            { id: 'c3', type: 'custom', custom: { name: 'patch', input: '{"input":"c' } },
          ],
        },
      },
    ],
  });
});

test("shortens a namespaced tool's name to the limit of model servers", () => {
  expect(functionNameOf({ name: 'search', namespace: 'docs' })).toBe('docs__search');
  const long = ['a', 'b'].map((name) => functionNameOf({ name, namespace: 'n'.repeat(64) }));
  expect(new Set(long).size).toBe(2);
  for (const name of long) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
});
