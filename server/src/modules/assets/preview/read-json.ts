import { LINE_CHARS_MAX, splitLines } from './decode-text.ts';
import type { Broken, Row, Table } from './table.ts';

/** A value of JSON text and the line on which it starts. */
type Piece = { line: number; text: string } | Broken;

/** One JSON object per line. */
export function readJsonLines(chunks: AsyncIterable<string>): Table {
  return tableOf(linesOf(chunks));
}

/** A list of JSON objects; a file that does not begin with a list is read as one object per line. */
export async function readJson(chunks: AsyncIterable<string>): Promise<Table> {
  const iterator = chunks[Symbol.asyncIterator]();
  let seen = '';
  let isDone = false;
  while (!isDone && seen.trim() === '') {
    const next = await iterator.next();
    isDone = next.done === true;
    seen += next.value ?? '';
  }
  const all = (async function* () {
    yield seen;
    if (!isDone) yield* { [Symbol.asyncIterator]: () => iterator };
  })();
  return tableOf(seen.trimStart().startsWith('[') ? splitList(all) : linesOf(all));
}

function tableOf(pieces: AsyncIterable<Piece>): Table {
  const columns: string[] = [];
  return {
    columns,
    rows: (async function* () {
      for await (const piece of pieces) yield 'reason' in piece ? piece : parseRow(piece, columns);
    })(),
  };
}

function parseRow(piece: { line: number; text: string }, columns: string[]): Row | Broken {
  let value: unknown;
  try {
    value = JSON.parse(piece.text);
  } catch (error) {
    return { line: piece.line, reason: `not JSON: ${(error as SyntaxError).message}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line: piece.line, reason: 'not an object with columns' };
  }
  for (const key of Object.keys(value)) if (!columns.includes(key)) columns.push(key);
  return { line: piece.line, values: { ...value } };
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<Piece> {
  for await (const { line, text, isCut } of splitLines(chunks)) {
    if (isCut) yield { line, reason: 'longer than 4 MB' };
    else if (text.trim() !== '') yield { line, text };
  }
}

/**
 * Cuts a list into the texts of its values without parsing them, so that a list of any length is
 * read in pieces and one damaged value does not hide the others.
 */
async function* splitList(chunks: AsyncIterable<string>): AsyncGenerator<Piece> {
  let line = 1;
  let state: 'before' | 'inside' | 'after' = 'before';
  let value: { line: number; text: string } | null = null;
  let depth = 0;
  let inString = false;
  let isEscaped = false;

  for await (const chunk of chunks) {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const mark = chunk[at];
      if (mark === '\n') line += 1;
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (mark === '\\') isEscaped = true;
        else if (mark === '"') inString = false;
        continue;
      }
      if (state === 'before') {
        if (mark === '[') state = 'inside';
        continue;
      }
      if (state === 'after' || mark === undefined) continue;
      const endsValue = depth === 0 && (mark === ',' || mark === ']');
      if (endsValue) {
        if (value) yield { line: value.line, text: value.text + chunk.slice(start, at) };
        value = null;
        if (mark === ']') state = 'after';
        continue;
      }
      if (!value) {
        if (/\s/.test(mark)) continue;
        value = { line, text: '' };
        start = at;
      }
      if (mark === '"') inString = true;
      else if (mark === '{' || mark === '[') depth += 1;
      else if (mark === '}' || mark === ']') depth -= 1;
    }
    if (value) {
      value.text += chunk.slice(start);
      if (value.text.length > LINE_CHARS_MAX) {
        yield { line: value.line, reason: 'longer than 4 MB; the rest was not read' };
        return;
      }
    }
  }
  if (state === 'after') return;
  if (value && (depth > 0 || inString)) {
    yield { line: value.line, reason: 'the file ends inside this value' };
    return;
  }
  if (value) yield value;
  yield { line, reason: 'the list is not closed' };
}
