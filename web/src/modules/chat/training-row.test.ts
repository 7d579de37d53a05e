import { expect, test } from 'vitest';
import type { Turn } from './chat.ts';
import { initialSettings } from './chat-options.tsx';
import { exchangesOf, trainingRow } from './training-row.ts';

const turns: Turn[] = [
  { role: 'user', content: 'Is the rye fresh?' },
  {
    role: 'assistant',
    content: '',
    thoughts: 'I look.',
    calls: [{ id: 'c1', name: 'look', arguments: '{}' }],
  },
  { role: 'user', content: '', results: [{ id: 'c1', name: 'look', content: '{"fresh": true}' }] },
  { role: 'assistant', content: 'Baked today.' },
  { role: 'user', content: 'And the buns?' },
  { role: 'assistant', content: 'They are', interrupted: true },
];
const definitions = '[{"type": "function", "function": {"name": "look"}}]';
const settings = { ...initialSettings, system: ' You bake. ', tools: { definitions, required: true } };

test('offers each answer with its question, and whether it is complete', () => {
  expect(exchangesOf(turns)).toEqual([
    { at: 1, question: 'Is the rye fresh?', answer: 'Calls look', isWhole: true },
    { at: 3, question: 'look: {"fresh": true}', answer: 'Baked today.', isWhole: true },
    { at: 5, question: 'And the buns?', answer: 'They are', isWhole: false },
  ]);
});

test('a row ends with the last selected answer; the others are context only', () => {
  expect(trainingRow(turns, settings, [3])).toEqual({
    messages: [
      { role: 'system', content: 'You bake.' },
      { role: 'user', content: 'Is the rye fresh?' },
      {
        ...{ role: 'assistant', content: '', weight: 0 },
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', content: '{"fresh": true}', tool_call_id: 'c1' },
      { role: 'assistant', content: 'Baked today.' },
    ],
    tools: [{ type: 'function', function: { name: 'look' } }],
  });
});

test('thoughts are saved with selected answers; a plain chat has no instructions or functions', () => {
  expect(trainingRow(turns, initialSettings, [1])).toEqual({
    messages: [
      { role: 'user', content: 'Is the rye fresh?' },
      {
        ...{ role: 'assistant', content: '', reasoning_content: 'I look.' },
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
    ],
  });
});
