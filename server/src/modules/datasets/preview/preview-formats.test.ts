import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { realPython } from '../../../testing/real-python.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';

const server = await testServer({ config: realPython });
const { create, upload, preview } = assetCalls(server);

let ada: TestUser;
beforeAll(async () => {
  ada = await server.signUp('Ada');
});

let id: string;
beforeAll(async () => {
  id = await create(ada);
});

test('csv: returns a page, counts all rows and reports unreadable rows', async () => {
  const rows = Array.from({ length: 250 }, (_, at) => (at === 5 ? 'only one' : `q${at},"a ${at}"`));
  await upload(ada, id, 'd.csv', `question,answer\n${rows.join('\n')}\n`);
  const page = await preview(ada, id, 'd.csv', { offset: 100, limit: 2 });
  expect(page).toEqual({
    columns: ['question', 'answer'],
    rows: [
      ['q101', 'a 101'],
      ['q102', 'a 102'],
    ],
    column_count: 2,
    total_rows: 249,
    whole_row: null,
    broken: [{ line: 7, reason: '1 field instead of 2' }],
    broken_count: 1,
    format: {
      format: 'prompt_completion',
      input_column: 'question',
      output_column: 'answer',
      rejected_column: null,
      label_column: null,
      system_column: null,
    },
    format_problem: null,
    conversations: [],
  });
});

test('reads tsv, ndjson and md in their own formats', async () => {
  await upload(ada, id, 'd.tsv', 'q, or, so\ta\nwho, then\tAda\n');
  expect(await preview(ada, id, 'd.tsv')).toMatchObject({
    columns: ['q, or, so', 'a'],
    rows: [['who, then', 'Ada']],
  });
  await upload(ada, id, 'd.ndjson', '{"q": "who", "a": "Ada"}\n');
  expect(await preview(ada, id, 'd.ndjson')).toMatchObject({ columns: ['q', 'a'], rows: [['who', 'Ada']] });
  await upload(ada, id, 'd.md', '# Bread\n');
  await upload(ada, id, 'd.txt', '# Bread\n');
  expect(await preview(ada, id, 'd.md')).toEqual(await preview(ada, id, 'd.txt'));
});

test('shows a gzip file and reports that training cannot use it', async () => {
  const packed = gzipSync('{"question": "Who bakes?", "answer": "Ada"}\n');
  await upload(ada, id, 'd.jsonl.gz', new Uint8Array(packed));
  expect(await preview(ada, id, 'd.jsonl.gz')).toMatchObject({
    columns: ['question', 'answer'],
    rows: [['Who bakes?', 'Ada']],
    total_rows: 1,
    format: { format: 'prompt_completion' },
    format_problem: 'd.jsonl.gz is packed with gzip. Unpack it and upload it again.',
  });
  await upload(ada, id, 'cut.csv.gz', new Uint8Array(packed.subarray(0, 30)));
  await expect(preview(ada, id, 'cut.csv.gz')).rejects.toThrow('cut.csv.gz is cut off: upload it again.');
  await upload(ada, id, 'none.csv.gz', 'a,b\n1,2\n'.repeat(9));
  await expect(preview(ada, id, 'none.csv.gz')).rejects.toThrow('none.csv.gz is damaged: upload it again.');
  await upload(ada, id, 'd.tar.gz', new Uint8Array(packed));
  await expect(preview(ada, id, 'd.tar.gz')).rejects.toThrow('d.tar.gz is packed: unpack it first.');
});

test('jsonl, json and txt', async () => {
  await upload(
    ada,
    id,
    'd.jsonl',
    '{"q": "one", "n": 1.5, "ok": true}\n{"q": "two", "m": [{"role": "user"}]}\nbroken\n',
  );
  expect(await preview(ada, id, 'd.jsonl')).toMatchObject({
    columns: ['q', 'n', 'ok', 'm'],
    rows: [
      ['one', 1.5, true, null],
      ['two', null, null, '[{"role":"user"}]'],
    ],
    total_rows: 2,
    whole_row: null,
    broken: [{ line: 3 }],
  });
  await upload(ada, id, 'd.json', '[{"a": 1}, {"a": null}]');
  expect(await preview(ada, id, 'd.json')).toEqual({
    columns: ['a'],
    column_count: 1,
    rows: [[1], [null]],
    total_rows: 2,
    whole_row: null,
    broken: [],
    broken_count: 0,
    format: null,
    format_problem: null,
    conversations: [],
  });
  await upload(ada, id, 'd.txt', `first\n${'x'.repeat(3000)}\n`);
  const text = await preview(ada, id, 'd.txt');
  expect(text.rows[0]).toEqual(['first']);
  expect(text.rows[1]?.[0]).toHaveLength(2001);
});

test('parquet', async () => {
  const bytes = await readFile(path.join(import.meta.dirname, 'fixtures/zstd.parquet'));
  await upload(ada, id, 'd.parquet', new Uint8Array(bytes));
  expect(await preview(ada, id, 'd.parquet', { offset: 1, limit: 2 })).toEqual({
    columns: ['id', 'text', 'score', 'at', 'tags', 'raw'],
    rows: [
      [2, 'two', 'NaN', '2026-01-02 03:04:05', '[]', expect.anything()],
      [3, null, 1.5, '2026-01-02 03:04:05', '["c"]', expect.anything()],
    ],
    column_count: 6,
    total_rows: 6,
    whole_row: null,
    broken: [],
    broken_count: 0,
    format: null,
    format_problem: null,
    conversations: [],
  });
});

test('reads a large file only as far as needed, does not count its rows, and finds rows anywhere in it', async () => {
  // 20 MB: more than training's reader reads of a file.
  const text = 'x'.repeat(1_000);
  const lines = Array.from({ length: 20_000 }, (_, at) => `${at},${text}`);
  await upload(ada, id, 'large.csv', `a,b\n${lines.join('\n')}\n`);
  const page = await preview(ada, id, 'large.csv', { limit: 3 });
  expect(page.rows).toHaveLength(3);
  expect(page.total_rows).toBeNull();
  const deep = await preview(ada, id, 'large.csv', { offset: 19_998, limit: 3 });
  expect(deep.rows.map(([a]) => a)).toEqual(['19998', '19999']);
  const turns = lines.map((line, at) => JSON.stringify({ prompt: line, completion: { at } }));
  await upload(ada, id, 'large.jsonl', `${turns.join('\n')}\n`);
  const deepTurns = await preview(ada, id, 'large.jsonl', { offset: 19_000, limit: 1 });
  expect(deepTurns.rows).toEqual([[`19000,${text}`, '{"at":19000}']]);
  expect(deepTurns.columns).toEqual(['prompt', 'completion']);
});

test('rejects other files, other encodings and unknown names', async () => {
  await upload(ada, id, 'latin.csv', Uint8Array.from(Buffer.from('a,b\nfür,1\n', 'latin1')));
  await expect(preview(ada, id, 'latin.csv')).rejects.toThrow(
    'latin.csv is not UTF-8 text: line 2, byte 2 (byte 6 of the file). Save it as UTF-8 and upload it again.',
  );
  await upload(ada, id, 'picture.png', 'not really');
  await expect(preview(ada, id, 'picture.png')).rejects.toMatchObject({ status: 400 });
  await upload(ada, id, 'bad.parquet', 'not really');
  await expect(preview(ada, id, 'bad.parquet')).rejects.toThrow('bad.parquet cannot be read as Parquet');
  await expect(preview(ada, id, 'none.csv')).rejects.toMatchObject({ status: 404 });
});

test('jsonl: shows all digits of numbers that JavaScript would round', async () => {
  await upload(
    ada,
    id,
    'n.jsonl',
    '{"id": 9007199254740993, "f": 0.1, "o": {"n": -9007199254740993}, "big": 1e400}\n',
  );
  const { rows, whole_row } = await preview(ada, id, 'n.jsonl', { limit: 1 });
  expect(rows).toEqual([['9007199254740993', 0.1, '{"n":-9007199254740993}', '1e400']]);
  expect(whole_row).toContain('"id":9007199254740993');
});
