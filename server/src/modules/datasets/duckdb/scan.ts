import { open, stat } from 'node:fs/promises';
import { endingOf, isPacked, unpackedName } from '../data-file.ts';
import { peekDialect } from '../preview/read-csv.ts';
import { hasMoreThan, unpack } from '../preview/unpack.ts';
import { list, text } from './quote.ts';

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
export async function scanOf(files: string[], { lenient = false } = {}): Promise<string> {
  const [first = ''] = files;
  const paths = list(files.map(text));
  const ending = endingOf(unpackedName(first));
  for (const file of files) await refuseBroken(asNamed(file));
  if (ending === 'parquet') return `read_parquet(${paths})`;
  const encoding = await encodingOf(asNamed(first));
  switch (ending) {
    case 'json':
    case 'jsonl': {
      const format = ending === 'json' ? 'auto' : 'newline_delimited';
      const skips = lenient ? ', ignore_errors = true' : '';
      return `read_json(${paths}, format = '${format}', maximum_object_size = ${OBJECT_BYTES_MAX}${skips})`;
    }
    case 'csv':
    case 'tsv': {
      const { delimiter, quotes, firstLine } = await dialectOf(asNamed(first), ending);
      const quote = quotes ? `quote = '"', escape = '"'` : "quote = '', escape = ''";
      const { size } = await stat(first);
      const sample = size <= WHOLE_SAMPLE_BYTES ? -1 : SAMPLE_ROWS;
      return (
        `read_csv(${paths}, header = true, delim = ${text(delimiter)}, ${quote}, skip = ${firstLine - 1}, ` +
        `strict_mode = true, sample_size = ${sample}, max_line_size = ${LINE_BYTES_MAX}, buffer_size = ${BUFFER_BYTES}, encoding = '${encoding}', ` +
        'ignore_errors = true, store_rejects = true)'
      );
    }
    default:
      return scanLines(paths, `encoding = '${encoding}'`);
  }
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
  const path = text(file.localPath);
  const ending = endingOf(unpackedName(file.name));
  const compression = `compression = '${isPacked(file.name) ? 'gzip' : 'uncompressed'}'`;
  await refuseBroken(file);
  if (ending === 'json' || ending === 'jsonl') {
    const format = ending === 'json' ? 'array' : 'newline_delimited';
    const skips = ending === 'json' ? '' : ', ignore_errors = true';
    const objects = `read_json_objects(${path}, format = '${format}', maximum_object_size = ${LINE_BYTES_MAX}, ${compression}${skips})`;
    return {
      kind: 'json',
      scan: `(FROM ${objects} WHERE json_type(json) = 'OBJECT')`,
      // As a JSON pointer, in which every name can be written.
      cell: (column) => `json -> ${text(`/${column.replaceAll('~', '~0').replaceAll('/', '~1')}`)}`,
    };
  }
  if (ending !== 'csv' && ending !== 'tsv') {
    const encoding = `encoding = '${await encodingOf(file)}'`;
    return { kind: 'text', scan: scanLines(list([path]), `${encoding}, ${compression}`), cell: () => 'text' };
  }
  const { delimiter, quotes, firstLine } = await dialectOf(file, ending);
  const quote = quotes ? `quote = '"', escape = '"'` : "quote = '', escape = ''";
  const types = Array.from({ length: columns }, (_, at) => `'c${at}': 'VARCHAR'`).join(', ');
  return {
    kind: 'text',
    scan:
      `read_csv(${path}, columns = {${types}}, auto_detect = false, header = true, delim = ${text(delimiter)}, ${quote}, ` +
      `skip = ${firstLine - 1}, strict_mode = true, nullstr = ${NO_DELIMITER}, max_line_size = ${LINE_BYTES_MAX}, ` +
      `buffer_size = ${BUFFER_BYTES}, ${compression}, ignore_errors = true)`,
    cell: (_column, at) => `c${at}`,
  };
}
