import { dialogueKeys } from './conversation.ts';
import { isBlank, LINE_CHARS_MAX, resume, splitLines } from './decode-text.ts';
import {
  type Broken,
  COLUMNS_MAX,
  type Columns,
  HALF_CHARACTER,
  NUL,
  type Row,
  type Table,
  TOO_LONG,
  Unreadable,
} from './table.ts';

const NESTING_MAX = 500;

/** A file that is a single object is read whole, up to this size. */
const OBJECT_CHARS_MAX = 32 * 1024 * 1024;

/** V8 counts lines from the start of the value; the message already states the line of the file. */
const PLACE_IN_VALUE = / \(line \d+ column \d+\)$/;

/** Escapes that may be invalid; most text has none, so the slow check is skipped. */
const MAYBE_NO_CHARACTER = /\\u(0000|d[89a-f])/i;

/** Digits of a number that JavaScript may round, or an exponent that may overflow. */
const MAYBE_ROUNDED = /\d{16}|\d[eE]\+?\d{2}/;

/** TypeScript does not know these JSON features yet. */
const exactJson: {
  parse(
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
} = Object(JSON);

/** A JSON value as text, and the line on which it starts. */
type Piece = { line: number; text: string } | Broken;

/** Reads one JSON object per line. */
export function readJsonLines(chunks: AsyncIterable<string>): Table {
  return tableOf(linesOf(chunks), (line, fault) => ({ line, reason: `not JSON: ${fault}` }));
}

/**
 * Reads a list of JSON objects, or an object that contains the list; any other file is read as one object per
 * line. The rows throw Unreadable if the list is not JSON.
 */
export async function readJson(chunks: AsyncIterable<string>, name: string): Promise<Table> {
  const iterator = chunks[Symbol.asyncIterator]();
  let seen = '';
  let isDone = false;
  while (!isDone && isBlank(seen)) {
    const next = await iterator.next();
    isDone = next.done === true;
    seen += next.value ?? '';
  }
  const onFault = (line: number, fault: string): never => {
    throw notJson(name, line, fault);
  };
  if (/^[ \t\r\n]*\[/.test(seen)) return tableOf(splitList(resume(seen, iterator), name), onFault);
  if (!/^[ \t\r\n]*\{/.test(seen)) return readJsonLines(resume(seen, iterator));
  const { text, isWhole } = await readObject(seen, iterator);
  const rows = isWhole ? unwrapObject(text) : null;
  if (!rows) return readJsonLines(resume(text, iterator));
  const part = (async function* () {
    yield rows.text;
  })();
  if (rows.isList) return tableOf(splitList(part, name, rows.line), onFault);
  return tableOf(splitObject(rows), onFault);
}

/**
 * Reads to the end of a file that may be a single object, unless it proves to be one object per line or too
 * long.
 */
async function readObject(
  seen: string,
  iterator: AsyncIterator<string>,
): Promise<{ text: string; isWhole: boolean }> {
  const firstAt = seen.indexOf('{');
  let text = seen;
  /** End of the first line; null if that line is not a whole object. */
  let firstEnd: number | null | undefined;
  while (text.length <= OBJECT_CHARS_MAX) {
    if (firstEnd === undefined && text.includes('\n', firstAt)) {
      const end = text.indexOf('\n', firstAt);
      firstEnd = isJson(text.slice(firstAt, end)) ? end : null;
    }
    if (typeof firstEnd === 'number' && !isBlank(text.slice(firstEnd))) return { text, isWhole: false };
    const next = await iterator.next();
    if (next.done === true) return { text, isWhole: true };
    text += next.value;
  }
  return { text, isWhole: false };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function* splitObject({ line, text }: Part): AsyncGenerator<Piece> {
  yield text.length > LINE_CHARS_MAX ? { line, reason: TOO_LONG } : { line, text };
}

function tableOf(pieces: AsyncIterable<Piece>, onFault: (line: number, fault: string) => Broken): Table {
  const columns: Columns = { shown: [], count: 0 };
  const known = new Set<string>();
  const parseRow = ({ line, text }: { line: number; text: string }): Row | Broken => {
    let value: unknown;
    try {
      value = parseExactly(text);
    } catch (error) {
      return onFault(line, (error as SyntaxError).message.replace(PLACE_IN_VALUE, ''));
    }
    if (isDeep(value, text)) return onFault(line, 'nested too deeply');
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { line, reason: 'not an object with columns' };
    }
    const fault = MAYBE_NO_CHARACTER.test(text) ? characterFault(value) : null;
    if (fault) return { line, reason: fault };
    const cells = new Map<string, unknown>(Object.entries(value));
    for (const key of cells.keys()) {
      if (columns.shown.length < COLUMNS_MAX && !known.has(key)) columns.shown.push(key);
      known.add(key);
    }
    columns.count = known.size;
    return { line, values: columns.shown.map((column) => cells.get(column)) };
  };
  return {
    columns,
    rows: (async function* () {
      for await (const piece of pieces) yield 'reason' in piece ? piece : parseRow(piece);
    })(),
  };
}

/** Like JSON.parse, except that numbers which JavaScript would round are returned as JSON.rawJSON. */
export function parseExactly(text: string): unknown {
  if (!MAYBE_ROUNDED.test(text)) return JSON.parse(text);
  return exactJson.parse(text, (_key, value, { source }) => {
    if (typeof value !== 'number' || source === undefined) return value;
    const isRounded = !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
    return isRounded ? exactJson.rawJSON(source) : value;
  });
}

/** True if values are nested too deeply for the runtime's parser. */
function isDeep(value: unknown, text: string): boolean {
  if ((text.match(/[[{]/g)?.length ?? 0) <= NESTING_MAX) return false;
  let level: object[] = isContainer(value) ? [value] : [];
  for (let depth = 0; depth < NESTING_MAX && level.length > 0; depth += 1) {
    level = level.flatMap((outer): unknown[] => Object.values(outer)).filter(isContainer);
  }
  return level.length > 0;
}

/** Describes invalid characters in a value or its keys; null if there are none. */
function characterFault(value: object): string | null {
  const texts: string[] = [];
  JSON.stringify(value, (key, inner: unknown) => {
    texts.push(key);
    if (typeof inner === 'string') texts.push(inner);
    return inner;
  });
  if (texts.some((text) => !text.isWellFormed())) return HALF_CHARACTER;
  return texts.some((text) => text.includes('\0')) ? NUL : null;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<Piece> {
  for await (const { line, text, isCut } of splitLines(chunks)) {
    if (isCut) yield { line, reason: TOO_LONG };
    else if (!isBlank(text)) yield { line, text };
  }
}

/**
 * Splits a list into the texts of its values without parsing them, so that a list of any length can be
 * streamed.
 */
async function* splitList(chunks: AsyncIterable<string>, name: string, firstLine = 1): AsyncGenerator<Piece> {
  let line = firstLine;
  let state: 'before' | 'inside' | 'after' = 'before';
  let value: { line: number; text: string } | null = null;
  let expectsValue = true;
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  const add = (text: string): void => {
    // One character beyond the limit marks the value as too long.
    if (value) value.text += text.slice(0, Math.max(0, LINE_CHARS_MAX + 1 - value.text.length));
  };

  for await (const chunk of chunks) {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const mark = chunk.charAt(at);
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
      if (state === 'after') {
        if (!isBlank(mark)) throw new Unreadable(`${name} continues after the end of its list.`);
        continue;
      }
      if (depth === 0 && (mark === ',' || mark === ']')) {
        if (value) {
          add(chunk.slice(start, at));
          yield value.text.length > LINE_CHARS_MAX ? { line: value.line, reason: TOO_LONG } : value;
        } else if (mark === ',' && expectsValue) throw notJson(name, line, 'a value is missing');
        expectsValue = mark === ',';
        value = null;
        if (mark === ']') state = 'after';
        continue;
      }
      if (!value) {
        if (isBlank(mark)) continue;
        value = { line, text: '' };
        start = at;
      }
      if (mark === '"') inString = true;
      else if (mark === '{' || mark === '[') depth += 1;
      else if (mark === '}' || mark === ']') depth -= 1;
    }
    add(chunk.slice(start));
  }
  if (state !== 'after') throw notJson(name, line, 'the list is not closed');
}

function notJson(name: string, line: number, reason: string): Unreadable {
  return new Unreadable(`${name} is not JSON: ${reason} on line ${line}.`);
}

/** A part of a text, and the line on which it starts. */
type Part = { line: number; text: string };

/**
 * Finds the rows in a JSON text that is one object: the single list of objects that it holds, else the object
 * itself. Null if the text is not one object. Keep in step with the runtime's `data/json_rows.py`.
 */
function unwrapObject(text: string): ({ isList: boolean } & Part) | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const lists = listsInside(text).filter((list) => isListOfRows(JSON.parse(list.text)));
  const [only] = lists;
  if (only && lists.length === 1) return { isList: true, ...only };
  return { isList: false, ...partOf(text, text.indexOf('{'), text.length) };
}

/** Returns the lists that are direct values of a JSON object. */
function listsInside(text: string): Part[] {
  const lists: Part[] = [];
  let depth = 0;
  let start = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const mark = text.charAt(at);
    if (inString) {
      if (mark === '\\') at += 1;
      else if (mark === '"') inString = false;
    } else if (mark === '"') inString = true;
    else if (mark === '{' || mark === '[') {
      if (depth === 1) start = at;
      depth += 1;
    } else if (mark === '}' || mark === ']') {
      depth -= 1;
      if (depth === 1 && mark === ']') lists.push(partOf(text, start, at + 1));
    }
  }
  return lists;
}

/** True if a value is a list of objects that are rows, rather than the turns of one conversation. */
function isListOfRows(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (item: unknown) => typeof item === 'object' && item !== null && !Array.isArray(item) && !isTurn(item),
    )
  );
}

function isTurn(item: object): boolean {
  return Object.values(dialogueKeys).some((keys) => keys.every((key) => key in item));
}

function partOf(text: string, start: number, end: number): Part {
  return { line: text.slice(0, start).split('\n').length, text: text.slice(start, end) };
}
