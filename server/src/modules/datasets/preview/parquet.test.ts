import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { profiledFile } from '../testing/profiled-file.ts';
import { readPreview } from './read-preview.ts';

/** Reads a page of a fixture. */
const look = async (name: string, page = { offset: 0, limit: 3 }) => {
  const localPath = path.join(import.meta.dirname, 'fixtures', `${name}.parquet`);
  return readPreview({ ...(await profiledFile(localPath, 'd.parquet')), ...page });
};

describe('Parquet', () => {
  test.each(['snappy', 'gzip', 'zstd', 'brotli', 'lz4'])(
    'reads rows across row groups, compressed with %s',
    async (codec) => {
      const { total_rows: totalRows, columns, rows } = await look(codec, { offset: 2, limit: 3 });
      expect(totalRows).toBe(6);
      expect(columns).toEqual(['id', 'text', 'score', 'at', 'tags', 'raw']);
      expect(rows.map((row) => row.slice(0, 3))).toEqual([
        [3, null, 1.5],
        [4, 'vier ✓', 2],
        [5, 'five', -1],
      ]);
    },
  );

  test.each(['snappy', 'gzip', 'zstd', 'brotli', 'lz4'])(
    'shows columns without values, compressed with %s',
    async (codec) => {
      expect(await look(`empty-${codec}`)).toMatchObject({
        total_rows: 3,
        columns: ['id', 'nothing', 'no_items'],
        rows: [1, 2, 3].map((id) => [id, null, '[]']),
        broken: [],
      });
    },
  );

  test('rejects duplicate column names, as in csv', async () => {
    await expect(look('twins')).rejects.toThrow("d.parquet names the column 'a' twice.");
  });

  test('returns no rows past the end', async () => {
    expect((await look('snappy', { offset: 60, limit: 3 })).rows).toEqual([]);
  });

  test('rejects an invalid Parquet file with the reason and without a local path', async () => {
    const file = { ...(await profiledFile(import.meta.filename, 'd.parquet')), offset: 0, limit: 3 };
    await expect(readPreview(file)).rejects.toThrow(/^d\.parquet cannot be read as Parquet: [^/]*$/);
  });

  test('detects the conversation format from the first rows, on every page', async () => {
    for (const offset of [0, 3]) {
      const { format, rows } = await look('dialogue', { offset, limit: 1 });
      expect(rows.map((row) => row[1])).toEqual([offset]);
      expect(format?.format).toBe('messages');
    }
  });
});
