import { type CsvDialect, type CsvRecord, csvRecords } from './csv-records.ts';
import { LINE_CHARS_MAX, resume } from './decode-text.ts';
import {
  assertUniqueColumns,
  type Broken,
  COLUMNS_MAX,
  type Columns,
  isBroken,
  NUL,
  type Row,
  strip,
  type Table,
  Unreadable,
} from './table.ts';

const DELIMITERS = [',', ';', '\t', '|'];

/** Excel's `sep=` line, which declares the delimiter. */
const SEPARATOR = /^sep=([^\r\n])(\r?\n|$)/i;
/** Characters examined to detect whether quotes are special. */
const SNIFFED_CHARS = 65_536;
/** A quoted cell. */
const QUOTED_CELL = /^"[^"]*(?:""[^"]*)*"$/;

/**
 * Reads a csv file whose first line names the columns, with the most frequent delimiter of , ; tab | unless
 * it is known. Throws Unreadable if that line is damaged, names no columns, repeats a name, or contains a NUL
 * character.
 */
export async function readCsv(
  chunks: AsyncIterable<string>,
  name: string,
  knownDelimiter?: string,
): Promise<Table> {
  const { dialect, all } = await peekDialect(chunks, knownDelimiter);
  // Check all names for duplicates, including columns that are not shown.
  let keep = Number.POSITIVE_INFINITY;
  const records = csvRecords(all, dialect, () => keep);
  const header = await records.next();
  const columns = toColumns(header.done ? null : header.value, name);
  keep = COLUMNS_MAX;
  return { columns, rows: toRows(records, columns) };
}

async function* toRows(
  records: AsyncIterable<CsvRecord | Broken>,
  columns: Columns,
): AsyncGenerator<Row | Broken> {
  for await (const record of records) {
    if (isBroken(record)) yield record;
    else if (record.count === columns.count) {
      yield record.hasNul ? { line: record.line, reason: NUL } : { line: record.line, values: record.fields };
    } else if (record.count > 0) {
      const fields = record.count === 1 ? 'field' : 'fields';
      yield { line: record.line, reason: `${record.count} ${fields} instead of ${columns.count}` };
    }
  }
}

/** Detects the dialect from the first lines; returns it with the whole text except a `sep=` line. */
export async function peekDialect(
  chunks: AsyncIterable<string>,
  knownDelimiter: string | undefined,
): Promise<{ dialect: CsvDialect; all: AsyncIterable<string> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  let seen = '';
  let isDone = false;
  while (!isDone && (seen.length < SNIFFED_CHARS || !seen.includes('\n')) && seen.length < LINE_CHARS_MAX) {
    const next = await iterator.next();
    isDone = next.done === true;
    seen += next.value ?? '';
  }
  const separator = SEPARATOR.exec(seen);
  const text = separator ? seen.slice(separator[0].length) : seen;
  const lines = text.slice(0, SNIFFED_CHARS).split('\n');
  // The last line may be incomplete.
  if (!isDone || text.length > SNIFFED_CHARS) lines.pop();
  // Ignore delimiters inside quotes.
  const unquoted = (text.split('\n', 1)[0] ?? '').replace(/"[^"]*(?:"|$)/g, '');
  const delimiter =
    separator?.[1] ??
    knownDelimiter ??
    DELIMITERS.reduce((best, mark) => (count(unquoted, mark) > count(unquoted, best) ? mark : best));
  const dialect = { delimiter, quotes: !isUnquoted(lines, delimiter), firstLine: separator ? 2 : 1 };
  return { dialect, all: resume(text, iterator) };
}

/**
 * True if quotes are ordinary characters: the delimiter is a tab, every line has as many cells as the first
 * regardless of quotes, and some cell's quotes are unbalanced.
 */
function isUnquoted(lines: string[], delimiter: string): boolean {
  if (delimiter !== '\t') return false;
  const rows = lines.flatMap((line) => {
    const text = strip(line, '\r');
    return text === '' ? [] : [text.split(delimiter)];
  });
  const width = rows[0]?.length ?? 0;
  if (rows.length < 2 || width < 2 || rows.some((row) => row.length !== width)) return false;
  const cells = rows.flat().filter((cell) => cell.startsWith('"'));
  const quoted = cells.filter((cell) => QUOTED_CELL.test(cell));
  // Only a quoting file has a quote inside such a cell.
  return quoted.length < cells.length && !quoted.some((cell) => cell.slice(1, -1).includes('"'));
}

function toColumns(header: CsvRecord | Broken | null, name: string): Columns {
  if (header && isBroken(header)) {
    throw new Unreadable(`The first line of ${name} is not a list of columns: ${header.reason}.`);
  }
  const names = (header?.fields ?? []).map((field) => strip(field, ' \t\r\n'));
  if (names.every((column) => column === '')) {
    throw new Unreadable(`The first line of ${name} names no columns.`);
  }
  if (names.some((column) => column.includes('\0'))) {
    throw new Unreadable(
      `The first line of ${name} contains a NUL character. Remove these characters, save the file as UTF-8 text and upload it again.`,
    );
  }
  assertUniqueColumns(names, name);
  return { shown: names.slice(0, COLUMNS_MAX), count: names.length };
}

function count(text: string, mark: string): number {
  return text.split(mark).length - 1;
}
