import type { Section } from '../documents/section.ts';

/**
 * Text that the model reads in one request, and its position in the document: 'page 3', a heading, or empty.
 */
export type Chunk = { place: string; text: string };

type Sizes = { size: number; overlap: number };
type Piece = { section: Section; text: string };

const PLACE_LENGTH_MAX = 200;
const BETWEEN = '\n\n';
const SENTENCE_END = /[。！？]|[.!?]["')\]]*\s+/g;

/**
 * Splits a document into chunks of at most `size` characters, between paragraphs, or between sentences or
 * words if a paragraph is too long. A chunk that is half full ends before a heading; otherwise the next chunk
 * repeats up to `overlap` characters of its end.
 */
export function toChunks(sections: readonly Section[], { size, overlap }: Sizes): Chunk[] {
  const chunks: Chunk[] = [];
  let pieces: Piece[] = [];
  const length = () => lengthOf(pieces);
  const close = (rest: Piece[]) => {
    chunks.push(toChunk(pieces));
    pieces = rest;
  };
  for (const section of sections) {
    if (section.heading !== null && length() >= size / 2) close([]);
    // Leaves room for the overlap at the start of a chunk.
    for (const text of paragraphsOf(section.text, size - overlap - BETWEEN.length)) {
      if (pieces.length > 0 && length() + BETWEEN.length + text.length > size) close(restOf(pieces, overlap));
      pieces.push({ section, text });
    }
  }
  if (pieces.length > 0) close([]);
  return chunks;
}

function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { text }) => sum + text.length, Math.max(0, pieces.length - 1) * BETWEEN.length);
}

/** Returns the end of a chunk from the start of a sentence, or else of a word. */
function restOf(pieces: readonly Piece[], overlap: number): Piece[] {
  const last = pieces.at(-1);
  if (!last || overlap === 0) return [];
  if (last.text.length <= overlap) return [last];
  const end = last.text.slice(-overlap);
  const [sentence] = end.matchAll(SENTENCE_END);
  const begin = sentence ?? /\s+/.exec(end);
  const text = begin ? end.slice(begin.index + begin[0].length) : '';
  return text === '' ? [] : [{ section: last.section, text }];
}

/** Returns the paragraphs, split to the size of a chunk. */
function paragraphsOf(text: string, size: number): string[] {
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .flatMap((paragraph) => cut(paragraph, size));
}

function cut(paragraph: string, size: number): string[] {
  const parts: string[] = [];
  let rest = paragraph;
  while (rest.length > size) {
    const at = cutAt(rest, size);
    parts.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  return rest === '' ? parts : [...parts, rest];
}

/**
 * Returns the position after the last sentence that fits, or else word, or else character; never splits a
 * surrogate pair.
 */
function cutAt(text: string, size: number): number {
  const begin = text.slice(0, size);
  const sentence = [...begin.matchAll(SENTENCE_END)].at(-1);
  if (sentence && sentence.index > size / 2) return sentence.index + sentence[0].length;
  const space = Math.max(begin.lastIndexOf(' '), begin.lastIndexOf('\n'));
  if (space > size / 2) return space;
  return /[\ud800-\udbff]$/.test(begin) ? size - 1 : size;
}

function toChunk(pieces: readonly Piece[]): Chunk {
  return {
    place: placeOf(pieces.map(({ section }) => section)),
    text: pieces.map(({ text }) => text).join(BETWEEN),
  };
}

function placeOf(sections: readonly Section[]): string {
  const pages = sections.flatMap(({ page }) => page ?? []);
  const [first, last] = [pages[0], pages.at(-1)];
  if (first !== undefined) return first === last ? `page ${first}` : `pages ${first}–${last}`;
  const headings = [...new Set(sections.flatMap(({ heading }) => heading ?? []))].join('; ');
  return headings.length > PLACE_LENGTH_MAX
    ? `${headings.slice(0, PLACE_LENGTH_MAX - 1).toWellFormed()}…`
    : headings;
}
