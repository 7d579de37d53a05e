import { LINE_CHARS_MAX } from './decode-text.ts';
import { type Broken, TOO_LONG } from './table.ts';

/**
 * A csv record: its first fields, the number of fields, and whether any contains a NUL character. A blank
 * line has no fields.
 */
export type CsvRecord = { line: number; fields: string[]; count: number; hasNul: boolean };

/** The delimiter, whether quotes are special, and the number of the first line. */
export type CsvDialect = { delimiter: string; quotes: boolean; firstLine: number };

type State =
  | 'record' // at the start of a record
  | 'field' // at the start of a field
  | 'plain' // inside an unquoted field
  | 'quoted' // inside a quoted field
  | 'quote' // after a quote inside a quoted field: its end, or the first of an escaped pair
  | 'ended'; // after the record; only the rest of the line end is allowed

/**
 * Yields csv records as Python's `csv` module with `strict=True` parses them, which training uses: the same
 * states (CPython, Modules/_csv.c), except that parsing resumes on the next line after an error. Stores only
 * the first `keep` fields of each record.
 */
export async function* csvRecords(
  chunks: AsyncIterable<string>,
  { delimiter, quotes, firstLine }: CsvDialect,
  keep: () => number,
): AsyncGenerator<CsvRecord | Broken> {
  const ends = new RegExp(`[${RegExp.escape(delimiter)}\r\n]`, 'g');
  let line = firstLine;
  let start = firstLine;
  let state: State = 'record';
  let fault: string | null = null;
  let fields: string[] = [];
  let count = 0;
  let field = '';
  let chars = 0;
  let hasNul = false;

  const add = (text: string): void => {
    chars += text.length;
    hasNul ||= text.includes('\0');
    if (count < keep() && chars <= LINE_CHARS_MAX) field += text;
  };
  const endField = (): void => {
    if (count < keep()) fields.push(field);
    count += 1;
    field = '';
  };
  /** Parses within one line. Sets `fault` if the line is invalid and skips its rest. */
  const read = (text: string): void => {
    let at = 0;
    while (at < text.length && !fault) {
      const mark = text.charAt(at);
      const isEnd = mark === '\n' || mark === '\r';
      if (state === 'record' && isEnd) state = 'ended';
      else if (quotes && (state === 'record' || state === 'field') && mark === '"') {
        state = 'quoted';
        at += 1;
      } else if (state === 'record' || state === 'field' || state === 'plain') {
        ends.lastIndex = at;
        const end = ends.exec(text)?.index ?? text.length;
        add(text.slice(at, end));
        state = 'plain';
        if (end < text.length) {
          endField();
          state = text.charAt(end) === delimiter ? 'field' : 'ended';
        }
        at = end + 1;
      } else if (state === 'quoted') {
        const end = text.indexOf('"', at);
        add(text.slice(at, end === -1 ? text.length : end));
        if (end !== -1) state = 'quote';
        at = end === -1 ? text.length : end + 1;
      } else if (state === 'quote') {
        if (mark === '"') {
          add(mark);
          state = 'quoted';
        } else if (mark === delimiter || isEnd) {
          endField();
          state = isEnd ? 'ended' : 'field';
        } else fault = 'there is text after a closing quote';
        at += 1;
      } else {
        if (!isEnd) fault = 'there is a carriage return inside the line';
        at += 1;
      }
    }
  };
  /** Returns the record that ends with this line; null if it continues on the next line. */
  const endLine = (): CsvRecord | Broken | null => {
    line += 1;
    if (!fault && state === 'quoted') return null;
    if (state !== 'record' && state !== 'ended') endField();
    const reason = fault ?? (chars > LINE_CHARS_MAX ? TOO_LONG : null);
    const record = reason ? { line: start, reason } : { line: start, fields, count, hasNul };
    [start, state, fault, fields, count, field, chars] = [line, 'record', null, [], 0, '', 0];
    hasNul = false;
    return record;
  };

  let isInLine = false;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf('\n', at);
      read(chunk.slice(at, end === -1 ? chunk.length : end + 1));
      isInLine = end === -1;
      at = end === -1 ? chunk.length : end + 1;
      const record = isInLine ? null : endLine();
      if (record) yield record;
    }
  }
  const last = isInLine ? endLine() : null;
  if (last) yield last;
  else if (start < line) yield { line: start, reason: 'a quote is opened and never closed' };
}
