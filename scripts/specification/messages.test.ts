import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../root.ts';
import { type Message, messages, type Place, places } from './messages.ts';
import { readTexts, tidy } from './read-texts.ts';

const texts = new Map<Place, Set<string>>();
for (const place of places) texts.set(place, await read(place));

async function read(place: Place): Promise<Set<string>> {
  let all = new Set<string>();
  for await (const file of glob(`${place}/src/**/*.{ts,tsx}`, { cwd: root })) {
    if (/\.test\.tsx?$|\/testing\//.test(file)) continue;
    all = all.union(readTexts(file, await readFile(path.join(root, file), 'utf8')));
  }
  return all;
}

/** The parts of the program that contain it as one whole text. */
function foundIn({ text }: Message): Place[] {
  const wanted = tidy(text.replace(/\{\w+\}/g, '{}'));
  return places.filter((place) => texts.get(place)?.has(wanted));
}

describe('a message of the specification', () => {
  test.each(messages.map((message) => [message.section, message.text, message] as const))(
    'section %i: %s, is a complete text in the parts named in its row',
    (_section, _text, message) => {
      expect(foundIn(message)).toEqual(message.foundIn);
    },
  );
});
