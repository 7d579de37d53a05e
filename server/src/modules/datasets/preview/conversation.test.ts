import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { runtimeDir } from '../../../engine/host/environment/environment.ts';
import { parseList, readConversation } from './conversation.ts';

/** Sample files. Each has the turns that training reads from its first row. */
const layouts = z
  .array(
    z.object({
      what: z.string(),
      file: z.string(),
      text: z.string().optional(),
      format: z.object({ format: z.string(), input_column: z.string() }).nullable().optional(),
      turns: z.array(z.tuple([z.string(), z.string()])).optional(),
    }),
  )
  .parse(JSON.parse(await readFile(path.join(runtimeDir, 'tests/data/fixtures/layouts.json'), 'utf8')))
  .filter(({ file, format }) => file === 'd.jsonl' && /messages|sharegpt/.test(format?.format ?? ''));

test.each(layouts)('shows the same turns that training reads: $what', ({ text = '', format, turns = [] }) => {
  const row = JSON.parse(text.split('\n', 1)[0] ?? '');
  const shown = readConversation(row[format?.input_column ?? ''], 100_000).turns;
  expect(turns.slice(-shown.length)).toEqual(shown.map(({ role, content }) => [role, content]));
});

test('maps speakers to roles and truncates turns', () => {
  const turns = Array.from({ length: 30 }, () => ({ from: 'human', value: 'x'.repeat(5000) }));
  const { turns: shown, turn_count } = readConversation([{ from: ' GPT', value: 'Hi' }, ...turns], 2000);
  expect(turn_count).toBe(31);
  expect(shown).toHaveLength(20);
  expect(shown[0]).toEqual({ role: 'assistant', content: 'Hi' });
  expect(shown[1]).toEqual({ role: 'user', content: `${'x'.repeat(100)}…` });
});

test('ignores a blank system prompt, like training', () => {
  const said = { role: 'user', content: 'Who bakes?' };
  for (const blank of ['', ' \n', null, undefined]) {
    expect(readConversation([{ role: 'system', content: blank }, said], 2000)).toEqual({
      turns: [said],
      turn_count: 1,
    });
  }
  expect(readConversation([{ role: 'user', content: '' }], 2000).turn_count).toBe(1);
});

test.each([
  ['bot', 'assistant'],
  ['ai', 'assistant'],
  ['bard', 'assistant'],
  ['bing', 'assistant'],
  ['prompter', 'user'],
])('maps speaker %s to role %s', (from, role) => {
  expect(readConversation([{ from, value: 'Hi' }], 2000).turns).toEqual([{ role, content: 'Hi' }]);
});

test('joins content parts if all of them are text, like training', () => {
  const text = (said: string) => ({ type: 'text', text: said });
  const picture = { type: 'image_url', image_url: {} };
  const contentOf = (content: unknown) =>
    readConversation([{ role: 'user', content }], 2000).turns[0]?.content;
  expect(contentOf([text('Good '), text('day')])).toBe('Good day');
  expect(contentOf([text('Hi'), picture])).toBe(JSON.stringify([text('Hi'), picture]));
  expect(contentOf([null])).toBe('[null]');
});

test.each([null, 'no list', '[broken', 7])('does not treat %j as a conversation', (value) => {
  expect(readConversation(value, 2000)).toEqual({ turns: [], turn_count: 0 });
});

describe('lists serialised as text', () => {
  const million = 1_000_000;

  test.each([
    ['blanks', `[${' '.repeat(million)}x`],
    ['blanks in a list', `['a'${' '.repeat(million)}x]`],
    ['unclosed escaped quotes', `['${"\\'".repeat(million)}]`],
    ['unclosed types', `['a'${', dtype='.repeat(million)}]`],
    ['unclosed brackets', `['a'${'('.repeat(million)}]`],
    ['commas', `[(${', '.repeat(million)}]`],
  ])('parses a cell crafted to take long in linear time: %s', (_what, text) => {
    // A regular expression with quadratic backtracking would need hours for this.
    expect(parseList(text)).toBeUndefined();
  });

  test('parses lists printed by Python and NumPy', () => {
    expect(parseList("array(['a', 'it\\'s'] , dtype='<U5')")).toEqual(['a', "it's"]);
    expect(parseList("[array(['Hi', 'Hello'], dtype=object)]")).toEqual([['Hi', 'Hello']]);
    expect(parseList("[INST] Hi ['a']")).toBeUndefined();
    expect(parseList("[{'a': Infinity}]")).toBeUndefined();
  });
});
