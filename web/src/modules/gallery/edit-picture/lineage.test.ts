import { expect, test } from 'vitest';
import { generationOf } from '../testing/generation-of.ts';
import { type Edited, lineageOf } from './lineage.ts';

const at = (id: string, minute: number, from: string | null = null) =>
  generationOf({
    id,
    created_at: `2026-01-01T00:0${minute}:00.000Z`,
    source: {
      ...{
        generation_id: from,
        output_id: null,
        url: '/source.png',
        thumbnail_url: '/source.png',
        mask_url: null,
      },
      ...{ media_type: 'image/png', width: 128, height: 128 },
    },
  });

/** 'a(b c(d))' */
const shown = (nodes: Edited[]): string =>
  nodes
    .map(({ generation, edits }) => generation.id + (edits.length > 0 ? `(${shown(edits)})` : ''))
    .join(' ');

test('nests each edit under its source, oldest first', () => {
  const newestFirst = [at('d', 4, 'b'), at('c', 3, 'a'), at('b', 2, 'a'), at('a', 1)];
  expect(shown(lineageOf(newestFirst))).toBe('a(b(d) c)');
});

test('a picture whose source was deleted becomes a root', () => {
  expect(shown(lineageOf([at('d', 4, 'b'), at('c', 3), at('a', 1, 'gone')]))).toBe('a c d');
});

test('no generations make no tree', () => expect(lineageOf([])).toEqual([]));
