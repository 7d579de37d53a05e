import { chatCompletions } from '@bakehouse/contract/chat';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TextEngine } from '../../serving/text-spec.ts';
import { WholeAnswer } from '../answer-shape.ts';
import { toServerRequest } from '../body/completion-request.ts';
import { type Chunk, CompletionStream } from '../completion-stream.ts';
import { callsOf } from '../grammar/testing/sample-grammar.ts';
import { withFunctions } from './chat-tools.ts';
import { RequiredCalls } from './required-calls.ts';

const question = { role: 'user', content: 'What is 1 + 2?' };
const integer = { type: 'integer' };
const parameters = {
  type: 'object',
  properties: { a: integer, b: { $ref: '#/$defs/number' } },
  required: ['a', 'b'],
  additionalProperties: false,
  $defs: { number: integer },
};
const tool = (name: string, more: object = {}) => ({
  type: 'function',
  function: { name, parameters, ...more },
});
const [add, subtract] = [tool('add'), tool('subtract')];
const call = (id: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'add', arguments: '{"a": 1, "b": 2}', ...more },
});
const calling = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls });
const result = (id?: string) => ({ role: 'tool', content: '3', tool_call_id: id });
const history = (...turns: object[]) => ({ messages: [question, ...turns] });
const named = (name: string) => ({ type: 'function', function: { name } });

function serverRequest(more: object, engine: TextEngine = 'llamacpp'): Record<string, unknown> {
  const body = chatCompletions.body?.safeParse({ model: 'm', messages: [question], ...more });
  if (!body?.success) {
    const [issue] = body?.error.issues ?? [];
    throw new Error(`${issue?.path.join('.')}: ${issue?.message}`);
  }
  return toServerRequest(withFunctions(body.data).body, { engine, contextTokens: 4096 }) as Record<
    string,
    unknown
  >;
}

describe('a chat with tools', () => {
  it.each([
    [{ tools: [{ type: 'function', function: {} }] }, 'tools.0.function.name'],
    [{ tools: [tool('two words')] }, 'tools.0.function.name: must be 1 to 64 letters'],
    [{ tools: [add, add] }, "tools.1.function.name: there are two 'add'"],
    [{ tools: [{ type: 'custom', custom: {} }] }, 'tools.0.custom.name'],
    [
      {
        tools: [add],
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [named('x')] } },
      },
      "tool_choice: there is no 'x' in 'tools'",
    ],
    [{ tools: Array.from({ length: 129 }, (_, at) => tool(`t${at}`)) }, 'tools'],
    [{ tools: [tool('add', { parameters: { type: 'string' } })] }, "parameters.type must be 'object'"],
    [
      {
        tools: [tool('add', { strict: true, parameters: { ...parameters, minProperties: 1 } })],
        tool_choice: 'required',
      },
      "tools.0.function.parameters: 'minProperties' is not enforced",
    ],
    [{ tool_choice: 'required' }, "tool_choice: 'required' needs 'tools'"],
    [{ tools: [add], tool_choice: named('divide') }, "tool_choice: there is no 'divide' in 'tools'"],
    [{ functions: [{ name: 'add' }] }, "Send 'tools'"],
    [{ function_call: { name: 'add' } }, "Send 'tools'"],
    [history({ role: 'function', name: 'add', content: '3' }), 'messages.1.role'],
    [history({ role: 'assistant', function_call: { name: 'add' } }), "Send 'tools'"],
    [history(result('call_1')), "messages.1.role: a 'tool' turn follows an 'assistant' turn"],
    [history(calling(call('call_1')), question, result('call_1')), 'messages.3.role'],
    [history(calling(call('call_1')), result('call_2')), "no call 'call_2'"],
    [history(calling(call('call_1')), result()), 'messages.2.tool_call_id is required'],
    [history(calling(call('call_1'))), 'messages.1.tool_calls: tool calls must be followed by their results'],
    [history(calling(call('x'), call('x')), result('x')), 'each call must have a unique id'],
    [
      history(calling(call('call_1', { arguments: '{"a":' })), result('call_1')),
      'messages.1.tool_calls.0.function.arguments must be a JSON object',
    ],
    [{ messages: [{ ...question, tool_calls: [call('x')] }] }, "only 'assistant' turns call tools"],
  ])('rejects %j by its field', (more, sentence) => {
    expect(() => serverRequest(more)).toThrow(sentence);
  });

  it('is bound by our grammar if the model server does not enforce strict parameters', () => {
    const zip = { type: 'object', properties: { zip: { type: 'string', pattern: '^\\d{5}$' } } };
    const [plain, fine] = [tool('plain', { strict: true }), tool('fine', { strict: true, parameters: zip })];
    const bound = { tool_choice: 'none', grammar: expect.stringContaining('<tool_call>') };
    expect(serverRequest({ tools: [plain] })).toMatchObject({ tool_choice: 'auto' });
    expect(serverRequest({ tools: [fine] })).toMatchObject(bound);
    expect(serverRequest({ tools: [add], response_format: { type: 'json_object' } })).toMatchObject(bound);
    expect(serverRequest({ tools: [plain] }, 'vllm')).toMatchObject({
      tool_choice: 'none',
      structured_outputs: { grammar: bound.grammar },
    });
  });

  it.each([
    { a: { type: 'string', pattern: '\\b(' } },
    { a: { type: 'array', minItems: 1e9, items: { $ref: '#' } } },
    { a: { $ref: 'https://example.com' }, b: { type: 'file' }, c: { anyOf: [] }, type: { type: 'string' } },
    { a: { enum: Array.from({ length: 9_000 }, (_, index) => index) } },
    { a: nested(40) },
  ])('accepts any schema of a function with optional calls: %#', (properties) => {
    const asked = serverRequest({ tools: [tool('f', { parameters: { type: 'object', properties } })] });
    const [{ function: sent }] = asked.tools as [{ function: { parameters: object } }];
    expect(sent.parameters).toMatchObject({ type: 'object' });
    expect(JSON.stringify(sent.parameters)).not.toMatch(/"type":"file"|"\$ref":|"minItems"/);
  });

  it('is rejected together with log-probabilities on a CPU, streamed or not', () => {
    for (const stream of [true, false])
      expect(() => serverRequest({ tools: [add], logprobs: true, stream })).toThrow('logprobs: on a CPU');
    expect(() => serverRequest({ tools: [add], logprobs: true }, 'vllm')).not.toThrow();
  });

  it('leaves optional calls to the model, which writes them in its own format', () => {
    const asked = serverRequest({
      tools: [add, { type: 'function', function: { name: 'now', strict: true } }],
    });
    expect(asked).toMatchObject({ tool_choice: 'auto', parallel_tool_calls: true });
    expect(asked.tools).toEqual([
      add,
      {
        type: 'function',
        function: {
          name: 'now',
          parameters: { type: 'object', properties: {}, additionalProperties: false },
        },
      },
    ]);
    expect(asked).not.toHaveProperty('grammar');
    expect(serverRequest({ tools: [add], parallel_tool_calls: false })).toMatchObject({
      parallel_tool_calls: false,
    });
  });

  it.each([{ tools: [add], tool_choice: 'none' }, { tools: [] }, { tools: null, tool_choice: 'auto' }])(
    'hides tools that may not be called: %j',
    (more) => {
      const asked = serverRequest(more);
      expect(asked).not.toHaveProperty('tools');
      expect(asked).not.toHaveProperty('tool_choice');
    },
  );

  it.each(['llamacpp', 'vllm'] as const)('binds %s to a required call', (engine) => {
    const more = { tools: [add, subtract], stop: ['}'] };
    const [one, many, only] = [
      { tool_choice: 'required' },
      { tool_choice: 'required', parallel_tool_calls: true },
      { tool_choice: named('subtract'), parallel_tool_calls: true },
    ].map((choice) => serverRequest({ ...more, ...choice }, engine));
    const calls = (asked: typeof one) => {
      const { structured_outputs: ofVllm } = asked as { structured_outputs?: { grammar: string } };
      const grammar = ofVllm?.grammar ?? asked?.grammar;
      return callsOf(grammar);
    };
    expect(one).toMatchObject({ tools: [add, subtract], tool_choice: 'none', stop: [] });
    expect(calls(one)).toEqual({ names: ['add', 'subtract'], isMany: false });
    expect(calls(many)).toEqual({ names: ['add', 'subtract'], isMany: true });
    expect(calls(only)).toEqual({ names: ['subtract'], isMany: false });
  });

  it("passes on the conversation's calls and results", () => {
    const parts = [
      { type: 'text', text: '3' },
      { type: 'text', text: 'exactly' },
    ];
    const turns = [calling(call('call_1'), call('call_2', { arguments: '' })), result('call_1')];
    const { messages } = serverRequest(history(...turns, { ...result('call_2'), content: parts }));
    expect(messages).toEqual([
      question,
      {
        role: 'assistant',
        content: '',
        tool_calls: [call('call_1'), call('call_2', { arguments: '{}' })],
      },
      { role: 'tool', content: '3', tool_call_id: 'call_1' },
      { role: 'tool', content: '3\nexactly', tool_call_id: 'call_2' },
    ]);
  });
});

describe('required calls', () => {
  const values = fc.dictionary(fc.string(), fc.jsonValue());
  const calls = fc.array(fc.record({ name: fc.stringMatching(/^[a-z_-]{1,9}$/), arguments: values }), {
    minLength: 1,
    maxLength: 4,
  });

  it('are parsed from the stream, wherever it is split and whatever spaces it contains', () => {
    fc.assert(
      fc.property(calls, fc.nat(3), fc.integer({ min: 1, max: 9 }), (asked, indent, size) => {
        const text = JSON.stringify(asked.length === 1 ? asked[0] : asked, null, indent);
        const reader = new RequiredCalls();
        const read: { name: string; arguments: string }[] = [];
        for (let at = 0; at < text.length; at += size) {
          for (const piece of reader.push(text.slice(at, at + size))) {
            const known = (read[piece.index] ??= { name: piece.name ?? '', arguments: '' });
            known.arguments += piece.arguments;
          }
        }
        expect(reader.calls).toBe(asked.length);
        expect(read.map((one) => ({ ...one, arguments: JSON.parse(one.arguments) as object }))).toEqual(
          JSON.parse(JSON.stringify(asked)),
        );
      }),
    );
  });
});

describe('an answer with calls', () => {
  const event = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 7, choices: [{ delta, finish_reason: finish }] })}\n\n`;
  const read = (text: string, binding: 'required' | 'choice' | null) => {
    const stream = new CompletionStream({
      engine: 'llamacpp',
      modelName: 'loaf',
      candidates: 0,
      binding,
    });
    return { chunks: stream.push(text), stream };
  };
  const whole = ({ chunks, stream }: { chunks: Chunk[]; stream: CompletionStream }) => {
    const answer = new WholeAnswer();
    for (const chunk of chunks) answer.add(chunk);
    return answer.toJson(stream.usage) as { choices: { message: object; finish_reason: string }[] };
  };
  const id = expect.stringMatching(/^call_[0-9a-f]{32}$/);

  it('passes on the calls that the model server parsed, with new ids', () => {
    const of = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] });
    const answer = read(
      [
        event({ role: 'assistant', content: null }),
        event(of(0, { id: 'x', type: 'function', function: { name: 'add', arguments: '' }, secret: 1 })),
        event(of(0, { function: { arguments: '{"a":' } })),
        event(of(0, { function: { arguments: '1}' } })),
        event(of(1, { id: 'y', type: 'function', function: { name: 'now', arguments: '{}' } })),
        event({}, 'tool_calls'),
      ].join(''),
      null,
    );
    expect(answer.chunks[1]?.choices[0]?.delta).toEqual({
      tool_calls: [{ index: 0, id, type: 'function', function: { name: 'add', arguments: '' } }],
    });
    expect(answer.chunks[2]?.choices[0]?.delta).toEqual({
      tool_calls: [{ index: 0, function: { arguments: '{"a":' } }],
    });
    const [choice] = whole(answer).choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls' });
    expect(choice?.message).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [
        { id, type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
        { id, type: 'function', function: { name: 'now', arguments: '{}' } },
      ],
    });
  });

  it.each([
    ['stop', 'tool_calls'],
    ['length', 'length'],
  ])('parses a required call that ended with %s', (reason, finish) => {
    const text = '{ "name": "add", "arguments": { "a": 1 }';
    const events = text
      .split('')
      .map((content) => event({ content }))
      .join('');
    const [choice] = whole(read(events + event({}, reason), 'required')).choices;
    expect(choice?.message).toMatchObject({
      content: null,
      tool_calls: [{ id, function: { name: 'add', arguments: '{ "a": 1 }' } }],
    });
    expect(choice?.finish_reason).toBe(finish);
  });

  it.each([
    ['{"a": "<tool"}', '{"a": "<tool"}', []],
    ['It is <tool_', 'It is <tool_', []],
    [
      'I look.\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
      'I look.',
      [
        ['add', '{"a": 1}'],
        ['now', '{}'],
      ],
    ],
  ])('parses text, calls or both: %j', (text, content, calls) => {
    for (const size of [1, 7, 1000]) {
      const pieces = text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [];
      const events = pieces.map((piece) => event({ content: piece })).join('');
      const [choice] = whole(read(events + event({}, 'stop'), 'choice')).choices;
      const message = choice?.message as { content: string; tool_calls?: { function: object }[] };
      expect(message.content).toBe(content);
      expect((message.tool_calls ?? []).map((one) => Object.values(one.function))).toEqual(calls);
      expect(choice?.finish_reason).toBe(calls.length > 0 ? 'tool_calls' : 'stop');
    }
  });
});

function nested(levels: number): object {
  return levels === 0 ? integer : { type: 'array', items: nested(levels - 1) };
}
