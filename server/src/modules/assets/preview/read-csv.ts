import { pipeline, Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { AppError } from '../../../platform/errors.ts';
import { LINE_CHARS_MAX } from './decode-text.ts';
import type { Broken, Row, Table } from './table.ts';

const DELIMITERS = [',', ';', '\t', '|'];

/** A record, and how many lines the parser had read at its end. */
type Parsed = { record: string[]; info: { lines: number } };

/**
 * A csv file whose first line names the columns, parted by whichever of , ; tab | is most
 * frequent in it. Throws AppError('invalid_request') when that line names no columns, or one twice.
 */
export async function readCsv(chunks: AsyncIterable<string>, name: string): Promise<Table> {
  const { firstLine, all } = await peekFirstLine(chunks);
  const delimiter = DELIMITERS.reduce((best, mark) =>
    count(firstLine, mark) > count(firstLine, best) ? mark : best,
  );
  const { records, endReason } = parseRecords(all, delimiter);
  const iterator = records[Symbol.asyncIterator]();
  const header = await iterator.next();
  const columns: string[] = header.done ? [] : header.value.record.map((column) => column.trim());
  refuseBadHeader(columns, name);
  return { columns, rows: toRows(iterator, columns, endReason) };
}

async function* toRows(
  records: AsyncIterator<Parsed>,
  columns: string[],
  endReason: () => string | null,
): AsyncGenerator<Row | Broken> {
  let lastLine = 1;
  try {
    for (let next = await records.next(); !next.done; next = await records.next()) {
      const { record, info } = next.value;
      lastLine = info.lines;
      const line = info.lines - record.reduce((sum, field) => sum + count(field, '\n'), 0);
      if (record.length !== columns.length) {
        const fields = record.length === 1 ? 'field' : 'fields';
        yield { line, reason: `${record.length} ${fields} instead of ${columns.length}` };
      } else {
        yield { line, values: Object.fromEntries(columns.map((column, at) => [column, record[at] ?? ''])) };
      }
    }
    const reason = endReason();
    if (reason) yield { line: lastLine + 1, reason };
  } finally {
    await records.return?.();
  }
}

/** The records as they come, and after the last one why the parser gave up, if it did. */
function parseRecords(
  chunks: AsyncIterable<string>,
  delimiter: string,
): { records: AsyncIterable<Parsed>; endReason: () => string | null } {
  let endReason: string | null = null;
  const parser = parse({
    delimiter,
    info: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    // A quote inside an unquoted field is a character, e.g. of an inch.
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LINE_CHARS_MAX,
    skip_records_with_error: true,
    on_skip: (error) => {
      endReason =
        error?.code === 'CSV_QUOTE_NOT_CLOSED' ? 'a quote is opened and never closed' : 'longer than 4 MB';
      return undefined;
    },
  });
  // Errors of the source reach the reader through the parser.
  pipeline(Readable.from(chunks), parser, () => undefined);
  return { records: parser, endReason: () => endReason };
}

async function peekFirstLine(chunks: AsyncIterable<string>) {
  const iterator = chunks[Symbol.asyncIterator]();
  let seen = '';
  let isDone = false;
  while (!isDone && !/[\r\n]/.test(seen) && seen.length < LINE_CHARS_MAX) {
    const next = await iterator.next();
    isDone = next.done === true;
    seen += next.value ?? '';
  }
  return {
    firstLine: seen.split(/[\r\n]/, 1)[0] ?? '',
    all: (async function* () {
      yield seen;
      if (!isDone) yield* { [Symbol.asyncIterator]: () => iterator };
    })(),
  };
}

function refuseBadHeader(columns: string[], name: string): void {
  const twice = columns.find((column, at) => columns.indexOf(column) !== at);
  const problem = columns.every((column) => column === '')
    ? `The first line of ${name} names no columns.`
    : twice !== undefined && `${name} names the column '${twice}' twice.`;
  if (problem) throw new AppError('invalid_request', { publicMessage: problem, param: 'path' });
}

function count(text: string, mark: string): number {
  return text.split(mark).length - 1;
}
