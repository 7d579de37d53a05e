import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dataFormat } from '@bakehouse/contract/runtime/train-spec';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { readPreview } from '../read-preview.ts';

/** Sample files with the runtime's result: the runtime's tests read the same table. */
const layouts = z
  .array(
    z.object({
      what: z.string(),
      file: z.string(),
      text: z.string().optional(),
      base64: z.string().optional(),
      format: dataFormat.nullable().optional(),
      turns: z.array(z.tuple([z.string(), z.string()])).optional(),
      refused: z.string().optional(),
      unreadable: z.string().optional(),
    }),
  )
  .parse(JSON.parse(await readFile(path.join(import.meta.dirname, '../fixtures/layouts.json'), 'utf8')));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'layouts-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

test.each(layouts)('$file: $what', async ({ file, text, base64, format, turns, refused, unreadable }) => {
  const localPath = path.join(folder, file);
  await writeFile(localPath, base64 === undefined ? (text ?? '') : Buffer.from(base64, 'base64'));
  const reading = readPreview({ localPath, name: file, offset: 0, limit: 5 });
  if (unreadable !== undefined) return expect(reading).rejects.toThrow(unreadable);
  const preview = await reading;
  expect(preview.format).toEqual(format);
  // For other files the runtime reports only the columns or the first invalid line.
  if (refused && preview.format_problem) expect(preview.format_problem).toContain(refused.replace(/\.$/, ''));
  expect(preview.format_problem !== null).toBe(
    Boolean(refused && !/no rows|not recognized|Its columns|\.jsonl file/.test(refused)),
  );
  const [conversation] = preview.conversations;
  if (!conversation || !turns) return;
  const shown = conversation.turns.map(({ role, content }) => [role, content]);
  expect(turns.slice(-shown.length)).toEqual(shown);
});
