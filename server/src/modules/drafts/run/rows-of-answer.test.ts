import { expect, test } from 'vitest';
import { rowsOfAnswer } from './run-draft.ts';

const row = (name: string) => ({ question: `What is ${name}?`, answer: `${name} is "bread" {baked}.` });
const [rye, oats] = [row('rye'), row('oats')];

test.each<[string, string]>([
  ['in the requested format', JSON.stringify({ rows: [rye, oats] })],
  ['as a list', JSON.stringify([rye, oats])],
  [
    'in a fence with text around it',
    `Here you are:\n\`\`\`json\n${JSON.stringify([rye, oats], null, 2)}\n\`\`\`\nEnjoy!`,
  ],
  ['line by line with extra fields', [rye, oats].map((one) => JSON.stringify({ ...one, id: 1 })).join('\n')],
])('parses rows %s', (_, answer) => {
  expect(rowsOfAnswer(answer, true)).toEqual({ rows: [rye, oats], dropped: {} });
});

test('counts omitted rows', () => {
  const blank = JSON.stringify({
    rows: [rye, { question: '…', answer: 'Oats' }, { question: 'Oats?', answer: '' }],
  });
  expect(rowsOfAnswer(blank, true)).toEqual({ rows: [rye], dropped: { empty: 2 } });
  const whole = JSON.stringify({ rows: [rye, oats] });
  expect(rowsOfAnswer(whole.slice(0, -20), false)).toEqual({ rows: [rye], dropped: { cut_off: 1 } });
  expect(rowsOfAnswer('{"rows": [{"question": "What', false)).toEqual({ rows: [], dropped: { cut_off: 1 } });
});

test.each(['', 'I like bread.', '{"rows": []}', '[1, 2]', '{"question": 1, "answer": 2}', '}}}{{{', '"{'])(
  'returns no rows for an invalid answer: %j',
  (answer) => {
    expect(rowsOfAnswer(answer, true)).toEqual({ rows: [], dropped: { unreadable: 1 } });
  },
);

test('parses an endless answer quickly', () => {
  expect(rowsOfAnswer('{"'.repeat(200_000), false).rows).toEqual([]);
  expect(rowsOfAnswer(`${'\\"'.repeat(200_000)}{`, false).rows).toEqual([]);
});
