import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { expect, test } from 'vitest';
import { effort } from '../../../testing/soak.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { profiledFile } from '../testing/profiled-file.ts';
import { readColumns } from './columns/read-columns.ts';
import { readPreview } from './read-preview.ts';

const ROWS = 75;
const LONG = 'rye '.repeat(250_000);

/** Writes a file of 1 MB rows, so that one page exceeds the reader's byte limit. */
async function longRows(name: string, head: string, rowOf: (row: number) => string) {
  const localPath = path.join(await temporaryFolder(), name);
  const lines = [head, ...Array.from({ length: ROWS }, (_, row) => rowOf(row))];
  const packing = name.endsWith('.gz') ? createGzip({ level: 1 }) : new PassThrough();
  await pipeline(Readable.from(lines.filter(Boolean)), packing, createWriteStream(localPath));
  return profiledFile(localPath, name);
}

const csv = ['rows.csv', 'id,text\n', (row: number) => `${row},${LONG}\n`] as const;

const jsonl = ['rows.jsonl', '', (row: number) => `{"id": ${row}, "text": "${LONG}${row % 2}"}\n`] as const;

const txt = ['rows.txt', '', (row: number) => `${row} ${LONG}\n`] as const;
const packed = [csv, jsonl, txt].map(([name, ...lines]) => [`${name}.gz`, ...lines] as const);
/** The soak tests use all of these; the usual tests use one file of each format and one packed file. */
const kinds = [csv, jsonl, txt, ...packed].slice(0, effort({ usual: 4, soak: 6 }));

test.each(kinds)('truncates rows of 1 MB, including the first and the last: %s', async (...kind) => {
  const file = await longRows(...kind);
  const { rows } = await readPreview({ ...file, offset: 0, limit: 100 });
  expect(rows).toHaveLength(ROWS);
  const texts = rows.map((cells) => String(cells.at(-1)));
  expect(texts.filter((text) => text.endsWith('…') && text.length < 2_100)).toHaveLength(ROWS);
  const last = await readPreview({ ...file, offset: ROWS - 1, limit: 100 });
  expect(last.rows).toEqual([rows.at(-1)]);
});

test('describes JSON columns by the first rows if rows have 1 MB', async () => {
  const { rows, is_whole, columns } = await readColumns(await longRows(...jsonl));
  expect(is_whole).toBe(false);
  expect(rows).toBeGreaterThanOrEqual(64);
  expect(columns).toMatchObject([
    { name: 'id', type: 'number', filled: rows, distinct: rows, numbers: { min: 0, max: rows - 1 } },
    { name: 'text', type: 'text', distinct: 2, lengths: { min: LONG.length + 1, max: LONG.length + 1 } },
  ]);
  const value = `${LONG.slice(0, 100)}…`;
  expect(columns[1]?.frequent.map((one) => one.value)).toEqual([value, value]);
});

test('describes csv columns if rows have 1 MB', async () => {
  const { rows, columns } = await readColumns(await longRows(...csv));
  expect(rows).toBe(ROWS);
  expect(columns.at(-1)?.lengths?.min).toBeGreaterThanOrEqual(LONG.length - 1);
});
