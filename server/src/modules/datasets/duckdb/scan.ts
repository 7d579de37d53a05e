import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type DuckDBConnection, DuckDBTypeId } from '@duckdb/node-api';
import { SCRATCH } from '../../../platform/sandbox/share-files.ts';
import { endingOf, isPacked, unpackedName } from '../data-file.ts';
import { peekDialect } from '../preview/read-csv.ts';
import { hasMoreThan, unpack } from '../preview/unpack.ts';
import { list, name as named, text } from './quote.ts';
import { refuseLossyParts } from './refuse-lossy-parts.ts';

/** The byte order mark of UTF-8. */
const MARK = Buffer.from('\ufeff');
/** What is looked at of a file to find out how it is written. */
const SNIFFED_BYTES = 64 * 1024;
/** Of larger files the types of columns are those of the first rows. */
const WHOLE_SAMPLE_BYTES = 64 * 1024 * 1024;
const SAMPLE_ROWS = 204_800;
/** One row of JSON, or a whole file that is one object. */
const OBJECT_BYTES_MAX = 64 * 1024 * 1024;
/** A longer line is broken, as in the preview. It is read in pieces of several of them, for each thread. */
const LINE_BYTES_MAX = 4 * 1024 * 1024;
const BUFFER_BYTES = 4 * LINE_BYTES_MAX;
/** Parts nothing: no text has it. */
const NO_DELIMITER = "'\x1f\x1e\x1f\x1e'";

type TextFile = { localPath: string; name: string };

/**
 * The table function that reads files of one kind as typed columns, by the ending of the first and how that begins. Rows
 * of csv that cannot be read are left out, and named in `reject_errors`; of JSON they are, with `lenient`, rows of nothing.
 * Throws Unreadable for a packed file that is not whole.
 */
export async function scanOf(
  database: DuckDBConnection,
  files: string[],
  { lenient = false } = {},
): Promise<string> {
  const [first = ''] = files;
  const paths = list(files.map(text));
  const ending = endingOf(unpackedName(first));
  for (const file of files) await refuseBroken(asNamed(file));
  if (ending === 'parquet') {
    const table = `read_parquet(${paths}, union_by_name = true)`;
    const scan = (file: string) => `read_parquet(${text(file)})`;
    if (files.length > 1) await refuseLossyParts(database, { files, table, scan });
    return table;
  }
  const encoding = await encodingOf(asNamed(first));
  switch (ending) {
    case 'json':
    case 'jsonl': {
      const format = ending === 'json' ? 'auto' : 'newline_delimited';
      const skips = lenient ? ', ignore_errors = true' : '';
      const readable = await Promise.all(files.map(withoutMark));
      const sample = await sampleOf(files);
      const options = `format = '${format}', maximum_object_size = ${OBJECT_BYTES_MAX}, sample_size = ${sample}${skips}`;
      return exactJson(database, `${list(readable.map(text))}, ${options}`, sample);
    }
    case 'csv':
    case 'tsv': {
      const { delimiter, quotes, firstLine } = await dialectOf(asNamed(first), ending);
      const quote = quotes ? `quote = '"', escape = '"'` : "quote = '', escape = ''";
      const sample = await sampleOf([first]);
      const options =
        `header = true, delim = ${text(delimiter)}, ${quote}, skip = ${firstLine - 1}, strict_mode = true, ` +
        `max_line_size = ${LINE_BYTES_MAX}, buffer_size = ${BUFFER_BYTES}, encoding = '${encoding}', ignore_errors = true`;
      const asText = `${options}, all_varchar = true, sample_size = 1`;
      const table = `read_csv(${paths}, ${options}, sample_size = ${sample}, store_rejects = true`;
      if (files.length > 1) {
        const scan = (file: string) => `read_csv(${text(file)}, ${asText})`;
        await refuseLossyParts(database, { files, table: scan(first), scan });
      }
      const rounded = await roundedColumns(database, `${table})`, `read_csv(${paths}, ${asText})`, sample);
      const types = rounded.map((column) => `${text(column)}: 'VARCHAR'`).join(', ');
      return rounded.length > 0 ? `${table}, types = {${types}})` : `${table})`;
    }
    default:
      return scanLines(paths, `encoding = '${encoding}'`);
  }
}

/** Returns how many rows are examined for the types of columns; -1 is all. */
async function sampleOf(files: string[]): Promise<number> {
  let bytes = 0;
  for (const file of files) bytes += (await stat(file)).size;
  return bytes <= WHOLE_SAMPLE_BYTES ? -1 : SAMPLE_ROWS;
}

/** A whole number in JSON that DOUBLE may round. */
const LARGE_NUMBER = String.raw`(^|[\[,:])-?(9[0-9]{15}|[0-9]{17,})([,}\]]|$)`;
const JSON_STRING = String.raw`"([^"\\]|\\.)*"`;

/**
 * Reads JSON without rounding: in columns that would be DOUBLE and have whole numbers beyond 2^53, numbers are text. DuckDB
 * takes DOUBLE if a column also has fractions or numbers of more than 64 bits.
 */
async function exactJson(database: DuckDBConnection, parameters: string, sample: number): Promise<string> {
  const table = `read_json(${parameters})`;
  const prepared = await database.prepare(`FROM ${table}`);
  const columns = Array.from({ length: prepared.columnCount }, (_, at) => ({
    name: prepared.columnName(at),
    type: String(prepared.columnType(at)),
  }));
  const asText = columns.map(({ type }) => withoutDoubles(type));
  const mayRound = columns.filter(({ type }, at) => type !== asText[at]);
  // DuckDB renames columns whose names differ in case alone, and would not find them by these names.
  const isRenamed = columns.some(({ name }) => /_\d+$/.test(name) && hasTwin(columns, name));
  if (mayRound.length === 0 || isRenamed) return table;
  const read = (types: string[]) =>
    `read_json(${parameters}, columns = {${columns.map(({ name }, at) => `${text(name)}: ${text(types[at] ?? '')}`).join(', ')}})`;
  const isRounded = mayRound.map(({ name }) => {
    const json = `${named(name)}::VARCHAR`;
    const numbers = `regexp_replace(${json}, ${text(JSON_STRING)}, '', 'g')`;
    return `coalesce(bool_or(regexp_matches(${numbers}, ${text(LARGE_NUMBER)}) OR isinf(TRY_CAST(${json} AS DOUBLE))), false)`;
  });
  const limit = sample < 0 ? '' : ` LIMIT ${sample}`;
  const rows = `(FROM ${read(columns.map(() => 'JSON'))}${limit})`;
  const [found = []] = (
    await database.runAndReadAll(`SELECT ${isRounded.join(', ')} FROM ${rows}`)
  ).getRows();
  const rounded = new Set(mayRound.filter((_, at) => found[at] === true));
  if (rounded.size === 0) return table;
  return read(columns.map((column, at) => (rounded.has(column) ? (asText[at] ?? '') : column.type)));
}

/** Returns a type with text in place of DOUBLE, also within structs and lists. */
function withoutDoubles(type: string): string {
  return type.replace(/"(?:[^"]|"")*"|\bDOUBLE\b/g, (part) => (part === 'DOUBLE' ? 'VARCHAR' : part));
}

function hasTwin(columns: { name: string }[], renamed: string): boolean {
  const bare = renamed.replace(/_\d+$/, '').toLowerCase();
  return columns.some(({ name }) => name.toLowerCase() === bare);
}

/**
 * The columns of numbers in which some cells are no such number: the hash 7e12345 would be Infinity, and an id of 17 digits
 * another one. Looks at as many rows as decide the types.
 */
async function roundedColumns(
  database: DuckDBConnection,
  typed: string,
  asText: string,
  sample: number,
): Promise<string[]> {
  const prepared = await database.prepare(`FROM ${typed}`);
  const doubles = Array.from({ length: prepared.columnCount }, (_, at) => at)
    .filter((at) => prepared.columnTypeId(at) === DuckDBTypeId.DOUBLE)
    .map((at) => prepared.columnName(at));
  if (doubles.length === 0) return [];
  const isRounded = doubles.map((column) => {
    const number = `TRY_CAST(${named(column)} AS DOUBLE)`;
    const isLarge = `regexp_full_match(trim(${named(column)}), '[+-]?[0-9]{16,}') AND abs(${number}) > ${Number.MAX_SAFE_INTEGER}`;
    return `coalesce(bool_or((isinf(${number}) AND regexp_matches(${named(column)}, '[0-9]')) OR (${isLarge})), false)`;
  });
  const limit = sample < 0 ? '' : ` LIMIT ${sample}`;
  const found = await database.runAndReadAll(`SELECT ${isRounded.join(', ')} FROM (FROM ${asText}${limit})`);
  return doubles.filter((_, at) => found.getRows()[0]?.[at] === true);
}

/** Where a copy of a file lies, if DuckDB has to read one. */
export function copyOf(file: string): string {
  const ending = `${endingOf(unpackedName(file))}${isPacked(file) ? '.gz' : ''}`;
  return `${SCRATCH}/${createHash('sha256').update(file).digest('hex')}.${ending}`;
}

/** A file of JSON without its byte order mark, which DuckDB does not read: the file itself, or a copy without it. */
async function withoutMark(file: string): Promise<string> {
  const begin = await readBeginning(asNamed(file));
  if (!begin.subarray(0, MARK.length).equals(MARK)) return file;
  const copy = copyOf(file);
  const bytes: AsyncIterable<Buffer> = isPacked(file) ? unpack(asNamed(file)) : createReadStream(file);
  const unmarked = async function* () {
    let left = MARK.length;
    for await (const chunk of bytes) {
      yield chunk.subarray(left);
      left = Math.max(0, left - chunk.length);
    }
  };
  const target = createWriteStream(copy);
  if (isPacked(file)) await pipeline(unmarked, createGzip({ level: 1 }), target);
  else await pipeline(unmarked, target);
  return copy;
}

/** A line is a text whatever stands in it; to DuckDB an empty one has none. */
function scanLines(paths: string, options: string): string {
  return (
    `(SELECT coalesce("text", '') AS "text" FROM read_csv(${paths}, columns = {'text': 'VARCHAR'}, header = false, ` +
    `auto_detect = false, delim = ${NO_DELIMITER}, quote = '', escape = '', strict_mode = false, ` +
    `max_line_size = ${LINE_BYTES_MAX}, buffer_size = ${BUFFER_BYTES}, ${options}))`
  );
}

/** A file that lies here under the name of its own. */
function asNamed(file: string): TextFile {
  return { localPath: file, name: file };
}

/** Throws Unreadable for a packed file that is cut off or damaged: DuckDB takes the rows until there for all of them. */
async function refuseBroken(file: TextFile): Promise<void> {
  if (!isPacked(file.name) || (await stat(file.localPath)).size > WHOLE_SAMPLE_BYTES) return;
  await hasMoreThan(file, Number.POSITIVE_INFINITY);
}

/** The first bytes of a file, unpacked where it is packed. */
async function readBeginning(file: TextFile): Promise<Buffer> {
  if (!isPacked(file.name)) {
    const handle = await open(file.localPath);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of unpack(file)) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= SNIFFED_BYTES) break;
  }
  return Buffer.concat(pieces).subarray(0, SNIFFED_BYTES);
}

async function encodingOf(file: TextFile): Promise<'utf-8' | 'utf-16' | 'latin-1'> {
  const begin = await readBeginning(file);
  if (begin[0] === 0xff && begin[1] === 0xfe) return 'utf-16';
  try {
    // What is cut off may be the half of a character.
    new TextDecoder('utf-8', { fatal: true }).decode(begin, { stream: true });
    return 'utf-8';
  } catch {
    return 'latin-1';
  }
}

async function dialectOf(file: TextFile, ending: string) {
  const begin = await readBeginning(file);
  const decoder = new TextDecoder(begin[0] === 0xff && begin[1] === 0xfe ? 'utf-16le' : 'utf-8');
  const chunks = (async function* () {
    yield decoder.decode(begin);
  })();
  const { dialect } = await peekDialect(chunks, ending === 'tsv' ? '\t' : undefined);
  return dialect;
}

/** How a text file of any size is read as text alone, and what a column of it is called there. */
type TextScan = {
  kind: 'text' | 'json';
  scan: string;
  cell: (column: string, at: number) => string;
};

/**
 * The table function that reads a text file of any size, whose columns are known, as text or as JSON. Rows that cannot be
 * read are left out.
 */
export async function scanText(file: TextFile, columns: number): Promise<TextScan> {
  const place = text(file.localPath);
  const ending = endingOf(unpackedName(file.name));
  const compression = `compression = '${isPacked(file.name) ? 'gzip' : 'uncompressed'}'`;
  await refuseBroken(file);
  if (ending === 'json' || ending === 'jsonl') {
    const format = ending === 'json' ? 'array' : 'newline_delimited';
    const skips = ending === 'json' ? '' : ', ignore_errors = true';
    const objects = `read_json_objects(${place}, format = '${format}', maximum_object_size = ${LINE_BYTES_MAX}, ${compression}${skips})`;
    const hasMark = (await readBeginning(file)).subarray(0, MARK.length).equals(MARK);
    // DuckDB reads no byte order mark as JSON, but as text.
    const lines = `(SELECT "text"::JSON AS json FROM ${scanLines(list([place]), compression)} WHERE json_valid("text"))`;
    return {
      kind: 'json',
      scan: `(FROM ${hasMark && ending === 'jsonl' ? lines : objects} WHERE json_type(json) = 'OBJECT')`,
      // As a JSON pointer, in which every name can be written.
      cell: (column) => `json -> ${text(`/${column.replaceAll('~', '~0').replaceAll('/', '~1')}`)}`,
    };
  }
  if (ending !== 'csv' && ending !== 'tsv') {
    const encoding = `encoding = '${await encodingOf(file)}'`;
    return {
      kind: 'text',
      scan: scanLines(list([place]), `${encoding}, ${compression}`),
      cell: () => 'text',
    };
  }
  const { delimiter, quotes, firstLine } = await dialectOf(file, ending);
  const quote = quotes ? `quote = '"', escape = '"'` : "quote = '', escape = ''";
  const types = Array.from({ length: columns }, (_, at) => `'c${at}': 'VARCHAR'`).join(', ');
  return {
    kind: 'text',
    scan:
      `read_csv(${place}, columns = {${types}}, auto_detect = false, header = true, delim = ${text(delimiter)}, ${quote}, ` +
      `skip = ${firstLine - 1}, strict_mode = true, nullstr = ${NO_DELIMITER}, max_line_size = ${LINE_BYTES_MAX}, ` +
      `buffer_size = ${BUFFER_BYTES}, ${compression}, ignore_errors = true)`,
    cell: (_column, at) => `c${at}`,
  };
}
