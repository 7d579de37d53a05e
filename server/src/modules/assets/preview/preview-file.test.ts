import * as contract from '@bakehouse/contract/assets';
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestServer, type TestUser, testServer } from '../../../testing/test-server.ts';
import { createAsset } from '../create-asset.ts';

let server: TestServer;
let ada: TestUser;
let id: string;

beforeAll(async () => {
  server = await testServer();
  ada = await server.signUp('Ada');
  id = await createAsset(
    {
      ...server.services,
      caller: { kind: 'user', userId: ada.userId, isOperator: false },
      requestId: 'test',
      idempotencyKey: null,
    },
    contract.assetCreatePayload.parse({ dataset_type: 'RAW', title: 'Hostile', user_id: ada.userId }),
  );
});

/** Uploads the file and looks at it. `turns` counts how often others had theirs in the server meanwhile. */
async function look(name: string, content: string | Buffer<ArrayBuffer>) {
  const form = new FormData();
  form.append('data_file', new Blob([content]), name);
  const headers = { 'x-api-key': ada.apiKey };
  await fetch(`${server.url}/api/v1/asset/${id}/upload`, { method: 'POST', headers, body: form });
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  const response = await server.send(
    contract.previewFile,
    { params: { id }, query: { path: name } },
    { as: ada },
  );
  const text = await response.text();
  clearInterval(timer);
  return { turns, status: response.status, bytes: text.length, answer: JSON.parse(text) };
}

describe('a file that is made to take long', () => {
  test('80,000 columns: the first are shown, all are counted', async () => {
    const columns = Array.from({ length: 80_000 }, (_, at) => `c${at}`);
    const { turns, status, bytes, answer } = await look('wide.csv', `${columns.join()}\n${columns.join()}\n`);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ column_count: 80_000, total_rows: 1 });
    expect(answer.columns).toEqual(columns.slice(0, 200));
    expect(answer.rows).toEqual([columns.slice(0, 200)]);
    expect(bytes).toBeLessThan(10_000);
    expect(turns).toBeGreaterThan(10);
  });

  test('a new key on each of 80,000 lines', async () => {
    const lines = Array.from({ length: 80_000 }, (_, at) => `{"k${at}": 1}\n`).join('');
    const { turns, status, bytes, answer } = await look('keys.jsonl', lines);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ column_count: 80_000, total_rows: 80_000 });
    expect(answer.columns).toHaveLength(200);
    expect(bytes).toBeLessThan(150_000);
    expect(turns).toBeGreaterThan(10);
  });

  test('100,000,000 rows in 130 bytes of Parquet, said or not', async () => {
    const said = await look('said.parquet', oneRunParquet({ rows: 100_000_000, saidRows: 100_000_000 }));
    expect(said.status).toBe(400);
    expect(said.answer.error.message).toBe(
      'The row groups of this file are too large to be shown here. Download it to see its rows.',
    );
    const unsaid = await look('unsaid.parquet', oneRunParquet({ rows: 100_000_000, saidRows: 1000 }));
    expect(unsaid.status).toBe(400);
    expect(unsaid.answer.error.message).toBe(
      'unsaid.parquet takes too much time or memory to be shown here. Download it to see its rows.',
    );
    expect(Math.min(said.turns, unsaid.turns)).toBeGreaterThan(10);
    const honest = await look('honest.parquet', oneRunParquet({ rows: 1000, saidRows: 1000 }));
    expect(honest.answer).toMatchObject({ columns: ['a'], total_rows: 1000 });
    expect(honest.answer.rows).toHaveLength(100);
  }, 90_000);

  test('large cells and names are cut, so that a page stays small', async () => {
    const name = 'n'.repeat(5000);
    const row = Object.fromEntries([
      [name, 'x'],
      ...Array.from({ length: 150 }, (_, at) => [`c${at}`, '🍞'.repeat(3000)]),
    ]);
    const { bytes, answer } = await look('fat.jsonl', `${JSON.stringify(row)}\n`.repeat(20));
    expect(answer.columns[0]).toBe(`${'n'.repeat(200)}…`);
    expect(answer.rows).toHaveLength(20);
    expect(answer.rows[0][1]).toMatch(/^🍞+…$/u);
    expect(bytes).toBeLessThan(2_200_000);
  });

  test('broken rows are counted beyond those that are named', async () => {
    const { answer } = await look('broken.jsonl', 'x\n'.repeat(250));
    expect(answer).toMatchObject({ total_rows: 0, broken_count: 250 });
    expect(answer.broken).toHaveLength(100);
  });
});

/**
 * A Parquet file of one page: `rows` values of one column as a single run of a dictionary of two.
 * Its footer says `saidRows`. Thrift's compact protocol by hand.
 */
function oneRunParquet({ rows, saidRows }: { rows: number; saidRows: number }): Buffer<ArrayBuffer> {
  type Value = { type: number; bytes: number[] };
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
  const integer =
    (type: number) =>
    (value: number): Value => ({ type, bytes: varint(value * 2) });
  const [i32, i64] = [integer(5), integer(6)];
  const text = (value: string): Value => ({
    type: 8,
    bytes: [...varint(value.length), ...Buffer.from(value)],
  });
  const list = (...items: Value[]): Value => ({
    type: 9,
    bytes: [(items.length << 4) | (items[0]?.type ?? 0), ...items.flatMap(({ bytes }) => bytes)],
  });
  const struct = (fields: Record<number, Value>): Value => {
    let before = 0;
    const bytes = Object.entries(fields).flatMap(([number, field]) => {
      const step = Number(number) - before;
      before = Number(number);
      return [(step << 4) | field.type, ...field.bytes];
    });
    return { type: 12, bytes: [...bytes, 0] };
  };
  const [DATA, DICTIONARY_PAGE, INT32, REQUIRED, PLAIN, RLE, RLE_DICTIONARY] = [0, 2, 1, 0, 0, 3, 8].map(
    i32,
  ) as [Value, Value, Value, Value, Value, Value, Value];

  const dictionary = [1, 0, 0, 0, 2, 0, 0, 0];
  const size = (bytes: number[]) => i32(bytes.length);
  const dictionaryPage = [
    ...struct({
      1: DICTIONARY_PAGE,
      2: size(dictionary),
      3: size(dictionary),
      7: struct({ 1: i32(2), 2: PLAIN }),
    }).bytes,
    ...dictionary,
  ];
  // One bit per value; one run of them; the value.
  const run = [1, ...varint(rows * 2), 0];
  const dataPage = [
    ...struct({
      1: DATA,
      2: size(run),
      3: size(run),
      5: struct({ 1: i32(rows), 2: RLE_DICTIONARY, 3: RLE, 4: RLE }),
    }).bytes,
    ...run,
  ];
  const start = 4;
  const bytes = i64(dictionaryPage.length + dataPage.length);
  const column = struct({
    1: INT32,
    2: list(PLAIN, RLE_DICTIONARY),
    3: list(text('a')),
    4: i32(0),
    5: i64(saidRows),
    6: bytes,
    7: bytes,
    9: i64(start + dictionaryPage.length),
    11: i64(start),
  });
  const footer = struct({
    1: i32(1),
    2: list(struct({ 4: text('schema'), 5: i32(1) }), struct({ 1: INT32, 3: REQUIRED, 4: text('a') })),
    3: i64(saidRows),
    4: list(struct({ 1: list(struct({ 2: i64(start), 3: column })), 2: bytes, 3: i64(saidRows) })),
  }).bytes;
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([
    Buffer.from('PAR1'),
    Buffer.from([...dictionaryPage, ...dataPage, ...footer]),
    length,
    Buffer.from('PAR1'),
  ]);
}
