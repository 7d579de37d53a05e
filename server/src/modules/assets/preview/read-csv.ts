import { type CsvRecord, csvRecords } from './csv-records.ts';
import { LINE_CHARS_MAX, resume } from './decode-text.ts';
import {
  type Broken,
  COLUMNS_MAX,
  type Columns,
  isBroken,
  NUL,
  type Row,
  refuseDuplicateColumns,
  type Table,
} from './table.ts';
import { Unreadable } from './unreadable.ts';

const DELIMITERS = [',', ';', '\t', '|'];

/**
 * A csv file whose first line names the columns, parted by whichever of , ; tab | is most
 * frequent in it unless it is known. Throws Unreadable when that line is damaged, names no columns, or one twice.
 */
export async function readCsv(
  chunks: AsyncIterable<string>,
  name: string,
  knownDelimiter?: string,
): Promise<Table> {
  const { firstLine, all } = await peekFirstLine(chunks);
  // What stands in quotes parts no columns.
  const unquoted = firstLine.replace(/"[^"]*(?:"|$)/g, '');
  const delimiter =
    knownDelimiter ??
    DELIMITERS.reduce((best, mark) => (count(unquoted, mark) > count(unquoted, best) ? mark : best));
  // All names are looked at, whatever is shown of them.
  let keep = Number.POSITIVE_INFINITY;
  const records = csvRecords(all, delimiter, () => keep);
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

async function peekFirstLine(chunks: AsyncIterable<string>) {
  const iterator = chunks[Symbol.asyncIterator]();
  let seen = '';
  let isDone = false;
  while (!isDone && !seen.includes('\n') && seen.length < LINE_CHARS_MAX) {
    const next = await iterator.next();
    isDone = next.done === true;
    seen += next.value ?? '';
  }
  return { firstLine: seen.split('\n', 1)[0] ?? '', all: resume(seen, iterator) };
}

function toColumns(header: CsvRecord | Broken | null, name: string): Columns {
  if (header && isBroken(header)) {
    throw new Unreadable(`The first line of ${name} is not a list of columns: ${header.reason}.`);
  }
  const names = (header?.fields ?? []).map((field) => field.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, ''));
  if (names.every((column) => column === '')) {
    throw new Unreadable(`The first line of ${name} names no columns.`);
  }
  refuseDuplicateColumns(names, name);
  return { shown: names.slice(0, COLUMNS_MAX), count: names.length };
}

function count(text: string, mark: string): number {
  return text.split(mark).length - 1;
}
