import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { readColumns } from './columns/read-columns.ts';
import { readPreview } from './read-preview.ts';

const ROWS = 75;
const LONG = 'rye '.repeat(250_000);

/** Rows of a megabyte: a page of them is more than one look reads. */
describe.each([
  ['rows.csv', 'id,text\n', (row: number) => `${row},${LONG}\n`],
  ['rows.jsonl', '', (row: number) => `{"id": ${row}, "text": "${LONG}"}\n`],
  ['rows.txt', '', (row: number) => `${row} ${LONG}\n`],
] as const)('rows of a megabyte in %s', (name, head, rowOf) => {
  const file = { localPath: '', name };
  beforeAll(async () => {
    file.localPath = path.join(await temporaryFolder(), name);
    const lines = [head, ...Array.from({ length: ROWS }, (_, row) => rowOf(row))];
    await pipeline(Readable.from(lines.filter(Boolean)), createWriteStream(file.localPath));
  });

  test('are shown cut, from the first to the last', async () => {
    const { rows } = await readPreview({ ...file, offset: 0, limit: 100 });
    expect(rows).toHaveLength(ROWS);
    expect(
      rows.every((cells) => String(cells.at(-1)).endsWith('…') && String(cells.at(-1)).length < 2_100),
    ).toBe(true);
    const last = await readPreview({ ...file, offset: ROWS - 1, limit: 100 });
    expect(last.rows).toEqual([rows.at(-1)]);
  });

  test('their columns are described', async () => {
    const { rows, columns } = await readColumns(file);
    expect(rows).toBe(ROWS);
    expect(columns.at(-1)?.lengths?.min).toBeGreaterThanOrEqual(LONG.length);
  });
});
