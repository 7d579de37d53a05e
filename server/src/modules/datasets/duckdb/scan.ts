import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type DuckDBConnection, DuckDBTypeId } from '@duckdb/node-api';
import { SCRATCH } from '../../../platform/sandbox/share-files.ts';
import { extensionOf, isPacked, unpackedName } from '../data-file.ts';
import { unpack } from '../preview/unpack.ts';
import type { Profile } from '../read-profile.ts';
import { assertLosslessParts } from './assert-lossless-parts.ts';
import { list, name as named, text } from './open-database.ts';

/** The byte order mark in UTF-8. */
const MARK = Buffer.from('\ufeff');
/** How many bytes at the start of a file are read to detect its encoding and format. */
const SNIFFED_BYTES = 64 * 1024;
/**
 * All rows of a file up to this size determine the column types. Of larger files, only the first
 * `SAMPLE_ROWS`.
 */
const WHOLE_SAMPLE_BYTES = 64 * 1024 * 1024;
const SAMPLE_ROWS = 204_800;
/** Maximum bytes of one JSON row. Also of a whole file, if it is a single object. */
const OBJECT_BYTES_MAX = 64 * 1024 * 1024;
/** Maximum bytes of a line. A longer line counts as unreadable, as in the preview. */
const LINE_BYTES_MAX = 4 * 1024 * 1024;
const BUFFER_BYTES = 4 * LINE_BYTES_MAX;
/** A delimiter that no text contains, so that DuckDB does not split lines. */
const NO_DELIMITER = "'\x1f\x1e\x1f\x1e'";

type TextFile = { localPath: string; name: string };

/**
 * Returns SQL for a table function that reads files of one format as typed columns. The first file's
 * extension and first bytes determine the format. Skips unreadable csv rows and records them in
 * `reject_errors`. With `lenient`, returns unreadable JSON rows as nulls. Without a `dialect`, DuckDB detects
 * it; this happens for csv that training cannot read. Throws Unreadable for a truncated gzip file.
 */
export async function scanOf(
  database: DuckDBConnection,
  files: string[],
  { lenient = false, dialect = null }: { lenient?: boolean; dialect?: Profile['dialect'] } = {},
): Promise<string> {
  const [first = ''] = files;
  const paths = list(files.map(text));
  const ending = extensionOf(unpackedName(first));
  for (const file of files) await assertWholeFile(asNamed(file));
  if (ending === 'parquet') {
    const table = `read_parquet(${paths}, union_by_name = true)`;
    const scan = (file: string) => `read_parquet(${text(file)})`;
    if (files.length > 1) await assertLosslessParts(database, { files, table, scan });
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
      const sample = await sampleOf([first]);
      const options =
        `header = true, ${dialectSql(dialect)}strict_mode = true, ` +
        `max_line_size = ${LINE_BYTES_MAX}, buffer_size = ${BUFFER_BYTES}, encoding = '${encoding}', ignore_errors = true`;
      const asText = `${options}, all_varchar = true, sample_size = 1`;
      const table = `read_csv(${paths}, ${options}, sample_size = ${sample}, store_rejects = true`;
      if (files.length > 1) {
        const scan = (file: string) => `read_csv(${text(file)}, ${asText})`;
        await assertLosslessParts(database, { files, table: scan(first), scan });
      }
      const rounded = await roundedColumns(database, `${table})`, `read_csv(${paths}, ${asText})`, sample);
      const types = rounded.map((column) => `${text(column)}: 'VARCHAR'`).join(', ');
      return rounded.length > 0 ? `${table}, types = {${types}})` : `${table})`;
    }
    default:
      return scanLines(paths, `encoding = '${encoding}'`);
  }
}

/** Returns how many rows determine the column types; -1 means all. */
async function sampleOf(files: string[]): Promise<number> {
  let bytes = 0;
  for (const file of files) bytes += (await stat(file)).size;
  return bytes <= WHOLE_SAMPLE_BYTES ? -1 : SAMPLE_ROWS;
}

/** Matches an integer in JSON that DOUBLE may round. */
const LARGE_NUMBER = String.raw`(^|[\[,:])-?(9[0-9]{15}|[0-9]{17,})([,}\]]|$)`;
const JSON_STRING = String.raw`"([^"\\]|\\.)*"`;

/**
 * Returns SQL that reads JSON without rounding numbers. DuckDB infers DOUBLE if a column has fractions or
 * integers above 64 bits. If such a column also has integers above 2^53, it is read as text instead.
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
  // DuckDB renames columns whose names differ only in case. It would then not find the columns by these
  // names.
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

/** Returns a type with every DOUBLE replaced by text, also inside structs and lists. */
function withoutDoubles(type: string): string {
  return type.replace(/"(?:[^"]|"")*"|\bDOUBLE\b/g, (part) => (part === 'DOUBLE' ? 'VARCHAR' : part));
}

function hasTwin(columns: { name: string }[], renamed: string): boolean {
  const bare = renamed.replace(/_\d+$/, '').toLowerCase();
  return columns.some(({ name }) => name.toLowerCase() === bare);
}

/**
 * Returns the numeric columns whose cells would change when read as numbers. For example, the hash 7e12345
 * would become Infinity, and an id of 17 digits would be rounded. Checks the same rows that determine the
 * column types.
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

/** Returns the path for a copy of the file. The copy is written if DuckDB cannot read the original. */
export function copyOf(file: string): string {
  const ending = `${extensionOf(unpackedName(file))}${isPacked(file) ? '.gz' : ''}`;
  return `${SCRATCH}/${createHash('sha256').update(file).digest('hex')}.${ending}`;
}

/**
 * Returns the path of a JSON file without a byte order mark, which DuckDB rejects. This is the file itself,
 * or a copy without the mark.
 */
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

/**
 * Returns SQL that reads each line as one text, whatever it contains. DuckDB reads an empty line as null, so
 * convert it back.
 */
function scanLines(paths: string, options: string): string {
  return (
    `(SELECT coalesce("text", '') AS "text" FROM read_csv(${paths}, columns = {'text': 'VARCHAR'}, header = false, ` +
    `auto_detect = false, delim = ${NO_DELIMITER}, quote = '', escape = '', strict_mode = false, ` +
    `max_line_size = ${LINE_BYTES_MAX}, buffer_size = ${BUFFER_BYTES}, ${options}))`
  );
}

/** Returns a file whose local path has the same name as the file. */
function asNamed(file: string): TextFile {
  return { localPath: file, name: file };
}

/**
 * Throws Unreadable for a truncated or damaged gzip file. DuckDB would return the rows before the damage
 * without an error.
 */
async function assertWholeFile(file: TextFile): Promise<void> {
  if (!isPacked(file.name) || (await stat(file.localPath)).size > WHOLE_SAMPLE_BYTES) return;
  await Array.fromAsync(unpack(file), () => null);
}

/** Returns the first bytes of a file's content, decompressed if necessary. */
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
    // The last character may be incomplete.
    new TextDecoder('utf-8', { fatal: true }).decode(begin, { stream: true });
    return 'utf-8';
  } catch {
    return 'latin-1';
  }
}

function dialectSql(dialect: Profile['dialect']): string {
  if (!dialect) return '';
  const quote = dialect.is_quoted ? `quote = '"', escape = '"'` : "quote = '', escape = ''";
  return `delim = ${text(dialect.delimiter)}, ${quote}, skip = ${dialect.first_line - 1}, `;
}

/** SQL to read a text file of any size, and to refer to its columns. */
type TextScan = {
  kind: 'text' | 'json';
  scan: string;
  cell: (column: string, at: number) => string;
};

/**
 * Returns SQL that reads a text file of any size, with known columns, as text or JSON. Skips unreadable rows.
 */
export async function scanText(
  file: TextFile,
  { column_count, dialect }: Pick<Profile, 'column_count' | 'dialect'>,
): Promise<TextScan> {
  const place = text(file.localPath);
  const ending = extensionOf(unpackedName(file.name));
  const compression = `compression = '${isPacked(file.name) ? 'gzip' : 'uncompressed'}'`;
  await assertWholeFile(file);
  if (ending === 'json' || ending === 'jsonl') {
    const format = ending === 'json' ? 'array' : 'newline_delimited';
    const skips = ending === 'json' ? '' : ', ignore_errors = true';
    const objects = `read_json_objects(${place}, format = '${format}', maximum_object_size = ${LINE_BYTES_MAX}, ${compression}${skips})`;
    const hasMark = (await readBeginning(file)).subarray(0, MARK.length).equals(MARK);
    // DuckDB rejects a byte order mark in JSON files, but not in text files.
    const lines = `(SELECT "text"::JSON AS json FROM ${scanLines(list([place]), compression)} WHERE json_valid("text"))`;
    return {
      kind: 'json',
      scan: `(FROM ${hasMark && ending === 'jsonl' ? lines : objects} WHERE json_type(json) = 'OBJECT')`,
      // Use a JSON pointer, because it can contain every name.
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
  const types = Array.from({ length: column_count }, (_, at) => `'c${at}': 'VARCHAR'`).join(', ');
  return {
    kind: 'text',
    scan:
      `read_csv(${place}, columns = {${types}}, auto_detect = false, header = true, ${dialectSql(dialect)}` +
      `strict_mode = true, nullstr = ${NO_DELIMITER}, max_line_size = ${LINE_BYTES_MAX}, ` +
      `buffer_size = ${BUFFER_BYTES}, ${compression}, ignore_errors = true)`,
    cell: (_column, at) => `c${at}`,
  };
}
