import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Section } from '../documents/sections.ts';
import { toChunks } from './quote-draft.ts';

const page = (number: number, text: string): Section => ({ page: number, heading: null, text });
const under = (heading: string, text: string): Section => ({ page: null, heading, text });
const sentences = (count: number, word: string) =>
  Array.from({ length: count }, (_, at) => `The ${word} number ${at} rises.`).join(' ');

describe('chunks', () => {
  test('contain whole paragraphs across pages, and name the pages', () => {
    const chunks = toChunks([page(3, 'Rye.\n\nSpelt.'), page(4, 'Oats.')], { size: 500, overlap: 0 });
    expect(chunks).toEqual([{ place: 'pages 3–4', text: 'Rye.\n\nSpelt.\n\nOats.' }]);
  });

  test('end before a heading if they are half full; short parts stay together', () => {
    const long = sentences(12, 'loaf');
    const chunks = toChunks([under('Rye', 'Rye'), under('Spelt', long), under('Oats', 'Oats')], {
      size: 500,
      overlap: 0,
    });
    expect(chunks.map(({ place }) => place)).toEqual(['Rye; Spelt', 'Oats']);
  });

  test('start with the end of the previous chunk, from the start of a sentence', () => {
    const [first, second] = toChunks([page(1, sentences(40, 'loaf'))], { size: 600, overlap: 100 });
    const shared = second?.text.split('\n\n')[0] ?? '';
    expect(shared).toMatch(/^The loaf number \d+ rises\./);
    expect(shared.length).toBeGreaterThan(20);
    expect(first?.text.endsWith(shared)).toBe(true);
  });

  test('have no page or heading if the text is plain', () => {
    expect(toChunks([{ page: null, heading: null, text: 'Bread' }], { size: 500, overlap: 200 })).toEqual([
      { place: '', text: 'Bread' },
    ]);
    expect(toChunks([], { size: 500, overlap: 0 })).toEqual([]);
  });

  test('are never too long or empty, and never lose or split a character', () => {
    const part = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('. ', '\n\n', '🥐', ' ', 'bread'));
    const text = fc.array(part, { maxLength: 400 }).map((parts) => parts.join('').toWellFormed());
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), fc.integer({ min: 0, max: 250 }), (texts, overlap) => {
        const sections = texts.map((one, at) => page(at + 1, one));
        const letters = (one: string) => one.replace(/\s/g, '');
        const plain = toChunks(sections, { size: 500, overlap: 0 });
        expect(letters(plain.map((chunk) => chunk.text).join(''))).toBe(letters(texts.join('')));
        for (const chunk of toChunks(sections, { size: 500, overlap })) {
          expect(chunk.text.length).toBeLessThanOrEqual(500);
          expect(chunk.text.trim()).not.toBe('');
          expect(chunk.text.isWellFormed()).toBe(true);
        }
      }),
    );
  });
});
