import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { dataFormat } from '@bakehouse/contract/runtime/train-spec';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { readConversation } from '../conversation.ts';
import { readPreview } from '../read-preview.ts';
import {
  ANSWER,
  BAD,
  BESIDE_PROMPTS,
  CHOICES,
  DIALOGUE,
  FEEDBACK,
  GOOD,
  HISTORY,
  INSTRUCTION,
  PAIRS,
  PREFERENCE,
  PROMPTS,
  REFERENCE,
  SYSTEM,
  TEXT,
} from './column-roles.ts';
import { recogniseFormat } from './recognise-format.ts';

/** First rows and the format that both the server and the runtime must recognise. */
const alike = z
  .array(
    z.object({
      what: z.string(),
      columns: z.array(z.string()),
      rows: z.array(z.array(z.unknown())),
      format: dataFormat.nullable(),
    }),
  )
  .parse(
    JSON.parse(await readFile(path.join(import.meta.dirname, '../fixtures/recognise-alike.json'), 'utf8')),
  );

test.each(alike)('$what', ({ columns, rows, format }) => {
  expect(recogniseFormat(columns, rows)).toEqual(format);
});

test('both recognise the same column names', async () => {
  const names = await readFile(path.join(import.meta.dirname, '../fixtures/column-names.json'), 'utf8');
  expect({
    ...{ instruction: INSTRUCTION, answer: ANSWER, system: SYSTEM, text: TEXT },
    ...{ choices: CHOICES, dialogue: DIALOGUE, history: HISTORY, preference: PREFERENCE, pairs: PAIRS },
    ...{ feedback: FEEDBACK, good: GOOD, bad: BAD },
    ...{ prompt: PROMPTS, reference: REFERENCE, beside_prompts: BESIDE_PROMPTS },
  }).toEqual(JSON.parse(names));
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

test.each([null, 'no list', '[broken', 7])('%j is no conversation', (value) => {
  expect(readConversation(value, 2000)).toEqual({ turns: [], turn_count: 0 });
});

test('recognises the format from the first rows on every page', async () => {
  const localPath = path.join(import.meta.dirname, '../fixtures/dialogue.parquet');
  for (const offset of [0, 3]) {
    const { format, rows } = await readPreview({ localPath, name: 'd.parquet', offset, limit: 1 });
    expect(rows.map((row) => row[1])).toEqual([offset]);
    expect(format?.format).toBe('messages');
  }
});
