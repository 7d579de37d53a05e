import {
  DRAFT_ROWS_MAX,
  type DraftSettings,
  type quoteDraft as quoteDraftEndpoint,
  ROWS_PLACE,
  TEXT_PLACE,
} from '@bakehouse/contract/drafts';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { conflict, invalidParam } from '../../../platform/errors.ts';
import { type ChatToQuote, quoteChats } from '../../batches/prices.ts';
import type { ChatParts } from '../../chat/chat-parts.ts';
import type { Section } from '../documents/sections.ts';
import { findUserDraft } from '../drafts.ts';
import { type NewChunk, type OpenChunk, selectTexts, selectUnanswered } from '../queries.ts';

/** Tokens of a row with its JSON. */
const ROW_TOKENS = 250;

/** Low, because the rows must be factual. */
const TEMPERATURE = 0.2;

const PLACE_LENGTH_MAX = 200;
const BETWEEN = '\n\n';
const SENTENCE_END = /[。！？]|[.!?]["')\]]*\s+/g;

/** `chunks` is null if the run resumes the draft's existing chunks. */
export type Quoted = {
  settings: DraftSettings;
  chunks: NewChunk[] | null;
  unanswered: OpenChunk[];
  highestMicro: bigint;
  prices: Record<string, string>;
};

/**
 * Returns the chunks to read and their maximum price at the batch rate. With settings, the whole draft is
 * read again; without settings, only the unanswered chunks. Throws AppError 'not_found', 'model_not_found',
 * 'conflict' if nothing is left to resume, and 'invalid_request' if there is nothing to read, or too much for
 * a draft or the model.
 */
export async function readQuote(
  ctx: Context,
  chat: ChatParts,
  { draftId, settings: wanted }: { draftId: string; settings: DraftSettings | undefined },
): Promise<Quoted> {
  const draft = await findUserDraft(ctx, draftId);
  const settings = wanted ?? draft.settings;
  const chunks = wanted ? await readChunks(ctx, draftId, wanted) : null;
  const unanswered = chunks ?? (await selectUnanswered(ctx.db, draftId));
  if (settings === null || unanswered.length === 0)
    throw conflict('The draft has no chunks without an answer.');
  const { model } = settings;
  const quoted = await quoteChats(ctx, chat, {
    model,
    bodies: unanswered.map(({ text }) => rowsRequest(settings, text)),
    tooLong: (tokens) =>
      invalidParam(
        'settings.chunk_characters',
        `${model} reads and writes ${tokens} tokens at most. Choose fewer characters or rows per chunk.`,
      ),
  });
  return { settings, chunks, unanswered, ...quoted };
}

async function readChunks(ctx: Context, draftId: string, settings: DraftSettings): Promise<NewChunk[]> {
  const sizes = { size: settings.chunk_characters, overlap: settings.overlap_characters };
  const documents = await selectTexts(ctx.db, draftId);
  if (documents.length === 0) throw invalidParam('draft_id', 'The draft has no documents. Add one first.');
  const chunks = documents
    .flatMap(({ id: documentId, name, sections }) =>
      toChunks(sections, sizes).map(({ place, text }) => ({
        ...{ documentId, text },
        source: place === '' ? name : `${name}, ${place}`,
      })),
    )
    .map((chunk, number) => ({ number, ...chunk }));
  const rowsMax = chunks.length * settings.rows_per_chunk;
  if (rowsMax > DRAFT_ROWS_MAX)
    throw invalidParam(
      'settings.rows_per_chunk',
      `${chunks.length} chunks would be up to ${rowsMax} rows, and a draft has at most ${DRAFT_ROWS_MAX}. Choose fewer rows per chunk, or larger chunks.`,
    );
  return chunks;
}

/** Returns the quote for the API. */
export async function quoteDraft(
  ctx: Context,
  chat: ChatParts,
  asked: { draftId: string; settings: DraftSettings | undefined },
): Promise<ResponseOf<typeof quoteDraftEndpoint>> {
  const { settings, unanswered, highestMicro } = await readQuote(ctx, chat, asked);
  return {
    chunks: unanswered.length,
    rows_max: unanswered.length * settings.rows_per_chunk,
    highest_bgl: formatBgl(highestMicro),
  };
}

/**
 * Text that the model reads in one request, and its position in the document: 'page 3', a heading, or empty.
 */
type Chunk = { place: string; text: string };

type Sizes = { size: number; overlap: number };

type Piece = { section: Section; text: string };

/**
 * Splits a document into chunks of at most `size` characters. Chunks end between paragraphs; a longer
 * paragraph is split between sentences or words. A chunk that is at least half full ends before a heading.
 * Any other chunk continues: the next one repeats up to `overlap` characters of its end.
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

/** Returns the end of a chunk to repeat in the next one. It starts with a sentence, or else with a word. */
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
 * Returns where to cut: after the last sentence that fits, else after the last word, else after the last
 * character. Never splits a surrogate pair.
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

/** Returns the request for the rows of a chunk. Its schema makes the model server return valid JSON. */
export function rowsRequest(
  { model, prompt, rows_per_chunk: rows }: Pick<DraftSettings, 'model' | 'prompt' | 'rows_per_chunk'>,
  text: string,
): ChatToQuote {
  const places: Record<string, string> = { [TEXT_PLACE]: text, [ROWS_PLACE]: String(rows) };
  return {
    model,
    // A single pass, because the document's text may contain placeholders itself.
    messages: [
      { role: 'user', content: prompt.replace(/\{\{(?:text|rows)\}\}/g, (place) => places[place] ?? '') },
    ],
    max_tokens: ROW_TOKENS * (rows + 1),
    temperature: TEMPERATURE,
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'rows', strict: true, schema: schemaOf(rows) },
    },
  };
}

function schemaOf(rows: number): object {
  const text = { type: 'string' };
  const row = {
    type: 'object',
    properties: { question: text, answer: text },
    required: ['question', 'answer'],
    additionalProperties: false,
  };
  return {
    type: 'object',
    properties: { rows: { type: 'array', items: row, minItems: 1, maxItems: rows } },
    required: ['rows'],
    additionalProperties: false,
  };
}
