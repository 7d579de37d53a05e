import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { parseList } from './conversation.ts';
import { decodeText, LINE_CHARS_MAX, splitLines } from './decode-text.ts';
import { areStructures, recogniseFormat } from './format/recognise-format.ts';
import { readCsv } from './read-csv.ts';
import { readJson, readJsonLines } from './read-json.ts';
import { readText } from './read-text.ts';
import { COLUMNS_MAX, isBroken, type Table } from './table.ts';

/** Yields the text in pieces of `size` characters: readers must handle any split. */
async function* pieces(text: string, size = 3): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function readAll(table: Table) {
  const rows: unknown[][] = [];
  const broken: string[] = [];
  for await (const item of table.rows) {
    if (isBroken(item)) broken.push(`${item.line}: ${item.reason}`);
    else rows.push([item.line, ...item.values]);
  }
  return { columns: table.columns.shown, rows, broken };
}

/** Files with the result that the readers of both the server and the runtime must return. */
const alike = z
  .array(
    z.object({
      what: z.string(),
      file: z.string(),
      text: z.string().optional(),
      base64: z.base64().optional(),
      refused: z.string().optional(),
      columns: z.array(z.string()).optional(),
      rows: z.array(z.array(z.unknown())).optional(),
      dropped: z.array(z.tuple([z.int(), z.string()])).optional(),
    }),
  )
  .parse(JSON.parse(await readFile(path.join(import.meta.dirname, 'fixtures/read-alike.json'), 'utf8')));

describe.each([1, 3, 1000])('reads the same rows as training, in pieces of %i bytes', (size) => {
  test.each(alike)('$file: $what', async ({ file, text, base64, ...expected }) => {
    const bytes = base64 ? Buffer.from(base64, 'base64') : Buffer.from(text ?? '');
    const chunks = decodeText(
      (async function* () {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
      })(),
      file,
    );
    const open = { 'd.csv': readCsv, 'd.json': readJson, 'd.jsonl': readJsonLines }[file];
    if (!open) throw new Error(`No reader for ${file}`);
    const reading = (async () => readAll(await open(chunks, file)))();
    if (expected.refused !== undefined) {
      await expect(reading).rejects.toThrow(expected.refused);
      return;
    }
    const { columns, rows, broken } = await reading;
    expect(columns).toEqual(expected.columns);
    const width = columns.length + 1;
    expect(rows.map((row) => Array.from({ length: width }, (_, at) => row[at] ?? null))).toEqual(
      expected.rows,
    );
    expect(broken).toEqual(
      expected.dropped?.map(([line, reason]) => expect.stringMatching(`^${line}: ${reason}`)),
    );
  });
});

test('names a broken line once, by its number in the file', async () => {
  const { broken } = await readAll(readJsonLines(pieces('{"a": 1}\n{"a": 2,}\n{"a": 3}\n')));
  expect(broken).toEqual([expect.stringMatching(/^2: not JSON: .* at position 8$/)]);
});

describe('csv', () => {
  test('names a record that is too long and continues after it', async () => {
    const text = `a,b\n1,2\n"${'x'.repeat(LINE_CHARS_MAX + 10)}\n",3\n4,5\n`;
    expect(await readAll(await readCsv(pieces(text, 65_536), 'd.csv'))).toEqual({
      columns: ['a', 'b'],
      rows: [
        [2, '1', '2'],
        [5, '4', '5'],
      ],
      broken: ['3: longer than 4 MB: too long to be shown'],
    });
  });

  test('reads the first of many columns and counts all', async () => {
    const count = 100_000;
    const names = Array.from({ length: count }, (_, at) => `c${at}`).join();
    const table = await readCsv(pieces(`${names}\n${names}\n${names},1\n`, 65_536), 'd.csv');
    expect(table.columns.count).toBe(count);
    const { columns, rows, broken } = await readAll(table);
    expect(columns).toHaveLength(COLUMNS_MAX);
    expect(rows).toEqual([[2, ...columns]]);
    expect(broken).toEqual([`3: ${count + 1} fields instead of ${count}`]);
  });

  test('stops reading when the consumer stops', async () => {
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
  test('names a line that is too long and continues after it', async () => {
    const table = await readAll(
      readJsonLines(pieces(`{"a": 1}\n{"a": "${'x'.repeat(LINE_CHARS_MAX)}"}\n{"a": 3}\n`, 65_536)),
    );
    expect(table).toEqual({
      columns: ['a'],
      rows: [
        [1, 1],
        [3, 3],
      ],
      broken: ['2: longer than 4 MB: too long to be shown'],
    });
  });
});

describe('json', () => {
  test('names a value that is too long and continues after it', async () => {
    const text = `[{"a": 1},\n{"a": "${'x'.repeat(LINE_CHARS_MAX)}"}, {"a": 3}]`;
    expect(await readAll(await readJson(pieces(text, 65_536), 'd.json'))).toEqual({
      columns: ['a'],
      rows: [
        [1, 1],
        [2, 3],
      ],
      broken: ['2: longer than 4 MB: too long to be shown'],
    });
  });
});

describe('lists serialised as text', () => {
  const million = 1_000_000;

  test.each([
    ['blanks', `[${' '.repeat(million)}x`],
    ['blanks in a list', `['a'${' '.repeat(million)}x]`],
    ['unclosed escaped quotes', `['${"\\'".repeat(million)}]`],
    ['unclosed types', `['a'${', dtype='.repeat(million)}]`],
    ['unclosed brackets', `['a'${'('.repeat(million)}]`],
    ['commas', `[(${', '.repeat(million)}]`],
  ])('parses a cell crafted to take long in linear time: %s', (_what, text) => {
    // With quadratic backtracking this would take hours.
    expect(parseList(text)).toBeUndefined();
  });

  test('parses lists printed by Python and NumPy', () => {
    expect(parseList("array(['a', 'it\\'s'] , dtype='<U5')")).toEqual(['a', "it's"]);
    expect(parseList("[array(['Hi', 'Hello'], dtype=object)]")).toEqual([['Hi', 'Hello']]);
    expect(parseList("[INST] Hi ['a']")).toBeUndefined();
    expect(parseList("[{'a': Infinity}]")).toBeUndefined();
  });
});

test('skips blanks inside names and texts in linear time', async () => {
  const name = `a${' '.repeat(1_000_000)}b`;
  const { columns } = await readCsv(pieces(` ${name} \n1\n`, 65_536), 'd.csv');
  expect(columns.shown).toEqual([name]);
  expect(areStructures([`" ${name}"`, `x${' '.repeat(1_000_000)}[['a']]\n`])).toBe(true);
  expect(
    recogniseFormat(['question', 'answer', 'system'], [['Hi', 'Hello', 'x'.repeat(1_000_000)]]),
  ).toMatchObject({
    system_column: null,
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

  test('truncates lines at the limit', async () => {
    const lines = [];
    for await (const line of splitLines(pieces(`${'x'.repeat(LINE_CHARS_MAX + 5)}\ny`, 65_536)))
      lines.push([line.text.length, line.isCut]);
    expect(lines).toEqual([
      [LINE_CHARS_MAX, true],
      [1, false],
    ]);
  });

  test('drops a byte order mark and rejects bytes that are not UTF-8, wherever the bytes are split', async () => {
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
    const sentence = (line: number) =>
      `d.txt is not UTF-8 text: line ${line} is in another encoding. Save it as UTF-8 and upload it again.`;
    await expect(decode([0x41, 0xfc, 0x42])).rejects.toThrow(sentence(1));
    await expect(decode([0x41, 10], [0x41, 10, 0xc3, 0xbc, 10, 0xfc, 10, 0x41])).rejects.toThrow(sentence(4));
    await expect(decode([0x41, 10, 0xe2, 0x9c])).rejects.toThrow(sentence(2));
  });

  test.each([
    [
      'an Excel workbook',
      Buffer.from('PK\x03\x04rest'),
      'd.txt is an Excel workbook or another zip archive.',
    ],
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0]), 'd.txt is packed with gzip. Unpack it and upload it again.'],
    ['UTF-16', Buffer.from('\ufeffa,b\n', 'utf16le'), 'd.txt is UTF-16 text. Save it as UTF-8'],
    [
      'UTF-16 without its mark',
      Buffer.from('a,b\n1,2', 'utf16le'),
      'd.txt is not UTF-8 text: it is full of NUL',
    ],
  ])("detects %s behind a text file's name", async (_what, bytes, sentence) => {
    const reading = Array.fromAsync(decodeText(Readable.from([bytes]), 'd.txt'));
    await expect(reading).rejects.toThrow(sentence);
  });
});
