import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { decodeText, LINE_CHARS_MAX, splitLines } from './decode-text.ts';
import { readCsv } from './read-csv.ts';
import { readJson, readJsonLines } from './read-json.ts';
import { readParquet } from './read-parquet.ts';
import { readText } from './read-text.ts';
import { isBroken, type Table } from './table.ts';

/** The text in pieces of `size` characters: readers must not care where the cuts are. */
async function* pieces(text: string, size = 3): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function readAll(table: Table) {
  const rows: unknown[][] = [];
  const broken: string[] = [];
  for await (const item of table.rows) {
    if (isBroken(item)) broken.push(`${item.line}: ${item.reason}`);
    else rows.push([item.line, ...table.columns.map((column) => item.values[column])]);
  }
  return { columns: table.columns, rows, broken };
}

describe('csv', () => {
  test.each([1, 3, 1000])(
    'rows of uneven length and open quotes are named with their lines, in pieces of %i',
    async (size) => {
      const text =
        'question, answer\r\nq1,a1\r\n\r\n"q,2\nmore",a2\n5" pipe,ok\nx\na,b,c\n"open,b\nlast,row\n';
      expect(await readAll(await readCsv(pieces(text, size), 'd.csv'))).toEqual({
        columns: ['question', 'answer'],
        rows: [
          [2, 'q1', 'a1'],
          [4, 'q,2\nmore', 'a2'],
          [6, '5" pipe', 'ok'],
        ],
        broken: [
          '7: 1 field instead of 2',
          '8: 3 fields instead of 2',
          '9: a quote is opened and never closed',
        ],
      });
    },
  );

  test.each([';', '\t', '|'])('parted by %j', async (mark) => {
    const table = await readAll(await readCsv(pieces(`a${mark}b${mark}c\n1,5${mark}2${mark}3`), 'd.csv'));
    expect(table.rows).toEqual([[2, '1,5', '2', '3']]);
  });

  test('only a header has no rows', async () => {
    expect(await readAll(await readCsv(pieces('a,b'), 'd.csv'))).toEqual({
      columns: ['a', 'b'],
      rows: [],
      broken: [],
    });
  });

  test('a header without names, or with one twice, is refused', async () => {
    await expect(readCsv(pieces(',\n1,2\n'), 'd.csv')).rejects.toThrow(
      'The first line of d.csv names no columns.',
    );
    await expect(readCsv(pieces('\n\n'), 'd.csv')).rejects.toThrow(
      'The first line of d.csv names no columns.',
    );
    await expect(readCsv(pieces('a,b,a\n'), 'd.csv')).rejects.toThrow("d.csv names the column 'a' twice.");
  });

  test('a record without end is given up', async () => {
    const table = await readAll(
      await readCsv(pieces(`a,b\n1,2\n"${'x'.repeat(LINE_CHARS_MAX + 10)}`, 65_536), 'd.csv'),
    );
    expect(table.rows).toHaveLength(1);
    expect(table.broken).toEqual(['3: longer than 4 MB']);
  });

  test('reading stops when nobody asks for more', async () => {
    let taken = 0;
    const endless = (async function* () {
      yield 'a,b\n';
      for (;;) {
        taken += 1;
        yield '1,2\n'.repeat(100);
      }
    })();
    const { rows } = await readCsv(endless, 'd.csv');
    const iterator = rows[Symbol.asyncIterator]();
    for (let count = 0; count < 250; count += 1) await iterator.next();
    await iterator.return?.();
    const takenAtBreak = taken;
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toBe(takenAtBreak);
  });
});

describe('jsonl', () => {
  test('names lines that are not objects', async () => {
    const text = '{"a": 1, "b": [1, 2]}\n\nnot json\n{"a": "x", "c": null}\r\n[1]\n7';
    const table = await readAll(readJsonLines(pieces(text)));
    expect(table.columns).toEqual(['a', 'b', 'c']);
    expect(table.rows.map(([line]) => line)).toEqual([1, 4]);
    expect(table.broken[0]).toMatch(/^3: not JSON: /);
    expect(table.broken.slice(1)).toEqual(['5: not an object with columns', '6: not an object with columns']);
  });

  test('names a line that is too long and goes on behind it', async () => {
    const table = await readAll(
      readJsonLines(pieces(`{"a": 1}\n{"a": "${'x'.repeat(LINE_CHARS_MAX)}"}\n{"a": 3}\n`, 65_536)),
    );
    expect(table).toEqual({
      columns: ['a'],
      rows: [
        [1, 1],
        [3, 3],
      ],
      broken: ['2: longer than 4 MB'],
    });
  });
});

describe('json', () => {
  test.each([1, 2, 7, 1000])('a list is read value by value, in pieces of %i', async (size) => {
    const text = ' \n[\n  {"a": "x, ] \\" }", "b": {"c": [1, 2]}},\n  {"a": },\n  3,\n  {"a": "y"}\n]\n';
    const table = await readAll(await readJson(pieces(text, size)));
    expect(table.columns).toEqual(['a', 'b']);
    expect(table.rows).toEqual([
      [3, 'x, ] " }', { c: [1, 2] }],
      [6, 'y', undefined],
    ]);
    expect(table.broken[0]).toMatch(/^4: not JSON: /);
    expect(table.broken[1]).toBe('5: not an object with columns');
  });

  test('an empty list has no rows', async () => {
    expect(await readAll(await readJson(pieces('[ ]')))).toEqual({ columns: [], rows: [], broken: [] });
  });

  test('a list that is cut is named', async () => {
    expect((await readAll(await readJson(pieces('[{"a": 1}, {"a": ')))).broken).toEqual([
      '1: the file ends inside this value',
    ]);
    expect((await readAll(await readJson(pieces('[{"a": 1}\n')))).broken).toEqual([
      '2: the list is not closed',
    ]);
  });

  test('without a list it is one object per line', async () => {
    expect((await readAll(await readJson(pieces('{"a": 1}\n{"a": 2}')))).rows).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });
});

describe('text', () => {
  test('is one row per line', async () => {
    expect((await readAll(readText(pieces('one\r\n\ntwo ✓')))).rows).toEqual([
      [1, 'one'],
      [2, ''],
      [3, 'two ✓'],
    ]);
  });

  test('lines are cut at their limit', async () => {
    const lines = [];
    for await (const line of splitLines(pieces(`${'x'.repeat(LINE_CHARS_MAX + 5)}\ny`, 65_536)))
      lines.push([line.text.length, line.isCut]);
    expect(lines).toEqual([
      [LINE_CHARS_MAX, true],
      [1, false],
    ]);
  });

  test('drops a byte order mark and refuses what is not UTF-8, wherever the bytes are cut', async () => {
    const decode = async (...chunks: number[][]) => {
      let text = '';
      for await (const piece of decodeText(
        (async function* () {
          for (const chunk of chunks) yield Buffer.from(chunk);
        })(),
        'd.txt',
      ))
        text += piece;
      return text;
    };
    expect(await decode([0xef, 0xbb], [0xbf, 0x41, 0xe2], [0x9c, 0x93])).toBe('A✓');
    const sentence = 'd.txt is not UTF-8 text. Save it as UTF-8 and upload it again.';
    await expect(decode([0x41, 0xfc, 0x42])).rejects.toThrow(sentence);
    await expect(decode([0xff, 0xfe, 0x41, 0x00])).rejects.toThrow(sentence);
    await expect(decode([0x41, 0xe2, 0x9c])).rejects.toThrow(sentence);
  });
});

describe('Parquet', () => {
  const fixture = (codec: string) => path.join(import.meta.dirname, 'fixtures', `${codec}.parquet`);

  test.each(['snappy', 'gzip', 'zstd', 'brotli'])('rows across row groups, packed with %s', async (codec) => {
    const { totalRows, ...table } = await readParquet(fixture(codec), 'd.parquet', { offset: 2, limit: 3 });
    expect(totalRows).toBe(6);
    const { columns, rows } = await readAll(table);
    expect(columns).toEqual(['id', 'text', 'score', 'at', 'tags', 'raw']);
    expect(rows.map((row) => row.slice(0, 4))).toEqual([
      [3, 3n, null, 1.5],
      [4, 4n, 'vier ✓', 2],
      [5, 5n, 'five', -1],
    ]);
  });

  test('behind the end there are no rows', async () => {
    const { rows } = await readAll(
      await readParquet(fixture('snappy'), 'd.parquet', { offset: 60, limit: 3 }),
    );
    expect(rows).toEqual([]);
  });

  test('what cannot be unpacked here, or is no Parquet, is refused with the reason', async () => {
    await expect(readParquet(fixture('lz4'), 'd.parquet', { offset: 0, limit: 3 })).rejects.toThrow(
      /d\.parquet cannot be read as Parquet: .*LZ4/,
    );
    await expect(readParquet(import.meta.filename, 'd.parquet', { offset: 0, limit: 3 })).rejects.toThrow(
      'd.parquet cannot be read as Parquet',
    );
  });
});
