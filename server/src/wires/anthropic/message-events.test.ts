import { expect, test } from 'vitest';
import { MessageEvents } from './message-events.ts';

type Event = { type: string; index?: number; delta?: { type: string }; content_block?: { type: string } };

const usage = { promptTokens: 11, completionTokens: 4 };
const answer = { usage, stopSequence: null };
const asked = { model: 'loaf', max_tokens: 100 };
const piece = (delta: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const call = (index: number, more: string, name?: string) => ({
  tool_calls: [
    { index, ...(name && { id: `call_${index}` }), function: { ...(name && { name }), arguments: more } },
  ],
});

/** The answer of a model that thinks, writes text and makes two calls. */
const pieces = [
  piece({ role: 'assistant', content: null }),
  piece({ reasoning_content: 'Hm' }),
  piece({ reasoning_content: 'm.' }),
  piece({ content: 'I add.' }),
  piece(call(0, '', 'add')),
  piece(call(0, '{"a":')),
  piece(call(0, '1}')),
  piece(call(1, '{}', 'now')),
  piece({}, 'tool_calls'),
];
const content = [
  { type: 'thinking', thinking: 'Hmm.', signature: '' },
  { type: 'text', text: 'I add.' },
  { type: 'tool_use', id: 'toolu_0', name: 'add', input: { a: 1 } },
  { type: 'tool_use', id: 'toolu_1', name: 'now', input: {} },
];

function read(text: string): Event[] {
  return text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => {
      const [, name, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      const parsed = JSON.parse(data) as Event;
      expect(parsed.type).toBe(name);
      return parsed;
    });
}

test('a stream has its events in order, each block from start to stop', () => {
  const events = new MessageEvents(asked);
  const said = read(pieces.map((one) => events.add([one], answer)).join('') + events.end(usage));
  const short = said.map(({ type, index, delta, content_block: block }) =>
    [type.replace('content_block_', ''), index, delta?.type ?? block?.type]
      .filter((part) => part !== undefined)
      .join(' '),
  );
  expect(short).toEqual([
    'message_start',
    ...['start 0 thinking', 'ping', 'delta 0 thinking_delta', 'delta 0 thinking_delta'],
    ...['delta 0 signature_delta', 'stop 0'],
    ...['start 1 text', 'delta 1 text_delta', 'stop 1'],
    ...['start 2 tool_use', 'delta 2 input_json_delta', 'delta 2 input_json_delta', 'stop 2'],
    ...['start 3 tool_use', 'delta 3 input_json_delta', 'stop 3'],
    ...['message_delta', 'message_stop'],
  ]);
  expect(said[0]).toMatchObject({ message: { content: [], stop_reason: null, usage: { input_tokens: 11 } } });
  expect(said.at(-2)).toMatchObject({
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { input_tokens: 11, output_tokens: 4 },
  });
});

test('a message that is not streamed has the same blocks', () => {
  const events = new MessageEvents(asked);
  events.add(pieces, answer);
  expect(events.whole(usage)).toMatchObject({ content, stop_reason: 'tool_use', role: 'assistant' });
});

test.each([
  ['stop', null, 4, 'end_turn'],
  ['stop', 'END', 4, 'stop_sequence'],
  ['length', null, 100, 'max_tokens'],
  ['length', null, 4, 'model_context_window_exceeded'],
])(
  'reports that an answer ended by %s, at %s, with %i tokens',
  (finish, stopSequence, completionTokens, reason) => {
    const events = new MessageEvents(asked);
    const used = { promptTokens: 11, completionTokens };
    events.add([piece({ content: 'Good' }), piece({}, finish)], { usage: used, stopSequence });
    expect(events.whole(used)).toMatchObject({ stop_reason: reason, stop_sequence: stopSequence });
  },
);

test('a truncated call has no input, and an empty answer has no blocks', () => {
  const cut = new MessageEvents(asked);
  cut.add([piece(call(0, '{"a": ', 'add')), piece({}, 'length')], {
    usage: { ...usage, completionTokens: 100 },
    stopSequence: null,
  });
  expect(cut.whole({ ...usage, completionTokens: 100 })).toMatchObject({
    ...{ content: [{ type: 'tool_use', name: 'add', input: {} }], stop_reason: 'max_tokens' },
  });
  const silent = new MessageEvents(asked);
  expect(read(silent.end(usage)).map(({ type }) => type)).toEqual([
    'message_start',
    'message_delta',
    'message_stop',
  ]);
});
