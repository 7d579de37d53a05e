import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../root.ts';
import { type Message, messages } from './messages.ts';

const spoken = await read((file) => !/\.test\.tsx?$/.test(file));

async function read(wanted: (file: string) => boolean): Promise<string> {
  const texts: string[] = [];
  for await (const file of glob('{contract,server,web}/src/**/*.{ts,tsx}', { cwd: root }))
    if (wanted(file)) texts.push(await readFile(path.join(root, file), 'utf8'));
  // As they are read, and not as they are quoted or broken into lines.
  return texts.join('\n').replaceAll("\\'", "'").replaceAll('&apos;', "'").replace(/\s+/g, ' ');
}

/** Whether the program says it: the parts around what is filled in, each as it stands. */
function isSaid({ text }: Message): boolean {
  const parts = text.split(/\{\w+\}/).filter((part) => part.trim() !== '');
  return parts.every((part) => spoken.includes(part));
}

describe('a message of the specification', () => {
  const now = messages.filter(({ comesWith }) => comesWith === undefined);
  test.each(now.map((message) => [message.section, message.text, message] as const))(
    'section %i: %s',
    (_section, _text, message) => {
      expect(isSaid(message)).toBe(true);
    },
  );

  const later = messages.filter(({ comesWith }) => comesWith !== undefined);
  test.each(later.map((message) => [message.text, message] as const))(
    'that comes later, %s, is not said yet; else its row says so',
    (_text, message) => {
      expect(isSaid(message)).toBe(false);
    },
  );
});
