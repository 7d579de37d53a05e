import { createReadStream } from 'node:fs';
import { extensionOf, isPacked, unpackedName } from '../data-file.ts';
import { decodeText, splitLines } from './decode-text.ts';
import { readCsv } from './read-csv.ts';
import { readJson, readJsonLines } from './read-json.ts';
import { type Table, Unreadable } from './table.ts';
import { unpack } from './unpack.ts';

const CHUNK_BYTES = 1024 * 1024;

/** Extensions of archives and workbooks; keep in step with `data/rows.py` of the runtime. */
const PACKED = new Set(['gz', 'zip', 'zst', 'bz2', 'xz', '7z', 'tar', 'tgz']);

const WORKBOOKS = new Set(['xlsx', 'xls', 'xlsm', 'ods', 'numbers']);

/** Reads a text file: one column, one row per line. */
export function readText(chunks: AsyncIterable<string>): Table {
  return {
    columns: { shown: ['text'], count: 1 },
    rows: (async function* () {
      for await (const { line, text } of splitLines(chunks)) yield { line, values: [text] };
    })(),
  };
}

/**
 * Reads the rows of a text file by its extension, including gzip files, which training rejects. Throws
 * Unreadable for other kinds of file.
 */
export async function openTextTable(file: { localPath: string; name: string }): Promise<Table> {
  const { localPath, name } = file;
  const bytes = isPacked(name) ? unpack(file) : createReadStream(localPath, { highWaterMark: CHUNK_BYTES });
  const chunks = decodeText(bytes, name);
  switch (extensionOf(unpackedName(name))) {
    case 'csv':
      return readCsv(chunks, name);
    case 'tsv':
      return readCsv(chunks, name, '\t');
    case 'jsonl':
      return readJsonLines(chunks);
    case 'json':
      return readJson(chunks, name);
    case 'txt':
      return readText(chunks);
    default:
      if (PACKED.has(extensionOf(name))) throw new Unreadable(`${name} is packed: unpack it first.`);
      if (WORKBOOKS.has(extensionOf(name)))
        throw new Unreadable(`${name} is a workbook: save its sheet as CSV.`);
      throw new Unreadable('Rows can be shown for csv, jsonl, json, txt and parquet files');
  }
}
