import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import * as contract from '@bakehouse/contract/sql';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { realPython } from '../../../testing/real-python.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { testServer } from '../../../testing/test-server.ts';
import { assetCalls, refusalOf } from '../../assets/testing/asset-calls.ts';

/* SQL must return exactly the values in the files, or fail. */

const server = await testServer({ config: realPython });
const folder = await temporaryFolder();
const { create, upload } = assetCalls(server);
const ada = await server.signUp('Ada');

test('reads every row of JSON with a byte order mark', async () => {
  const marked = await create(ada);
  const text = '\ufeff{"a":{"x":1}}\n{"a":{"y":2}}\n';
  await upload(ada, marked, 'a.jsonl', text);
  await upload(ada, marked, 'b.jsonl.gz', new Uint8Array(gzipSync(text)));
  await upload(ada, marked, 'c.json', '\ufeff[{"a":{"x":1}},\n{"a":{"y":2}}]');
  const body = {
    query: 'SELECT a.x, a.y FROM a UNION ALL SELECT a.x, a.y FROM b UNION ALL SELECT a.x, a.y FROM c',
  };
  const answer = await server.request(contract.runSql, { params: { id: marked }, body }, { as: ada });
  expect(answer.rows).toEqual(
    [1, 2, 3].flatMap(() => [
      [1, null],
      [null, 2],
    ]),
  );
  expect(answer.dropped).toEqual([]);
});

test('returns a csv cell as text if no number represents it exactly', async () => {
  const hashes = await create(ada);
  await upload(ada, hashes, 'd.csv', 'hash,id,n\n7e12345,9007199254740993,1.5\n8e99999,0.5,2\n');
  const body = { query: 'FROM d' };
  const { rows } = await server.request(contract.runSql, { params: { id: hashes }, body }, { as: ada });
  expect(rows).toEqual([
    ['7e12345', '9007199254740993', 1.5],
    ['8e99999', '0.5', 2],
  ]);
});

test('infers JSON types from all rows, not only from the first', async () => {
  const id = await create(ada);
  const whole = '{"n":1,"id":1}\n'.repeat(30_000);
  await upload(ada, id, 'late.jsonl', `${whole}{"n":1.5,"id":9223372036854775808}\n`);
  const body = { query: 'SELECT n, id FROM late OFFSET 29999' };
  const { rows, dropped } = await server.request(contract.runSql, { params: { id }, body }, { as: ada });
  expect([rows.at(-1), dropped]).toEqual([[1.5, '9223372036854775808'], []]);
});

test('returns large integers in JSON exactly, even if the column also has fractions', async () => {
  const id = await create(ada);
  const lines = [
    '{"id": 9007199254740993, "n": 0.1, "o": {"n": 9007199254740993, "t": "x"}, "l": [1.5, 677105998674001941], "s": 1}',
    '{"id": 123456789012345678901234567890, "n": 2, "o": {"n": 0.5, "t": ",12345678901234567,"}, "l": [], "s": 2}',
  ];
  await upload(ada, id, 'a.jsonl', lines.join('\n'));
  await upload(ada, id, 'b.json', '[{"id": 9007199254740993}, {"id": 0.5}]');
  const ask = async (query: string) =>
    (await server.request(contract.runSql, { params: { id }, body: { query } }, { as: ada })).rows;
  expect(await ask('SELECT id, n, o.n, l[2], s FROM a')).toEqual([
    ['9007199254740993', 0.1, '9007199254740993', '677105998674001941', 1],
    ['123456789012345678901234567890', 2, '0.5', null, 2],
  ]);
  expect(await ask('SELECT id FROM b')).toEqual([['9007199254740993'], ['0.5']]);
  expect(await ask('SELECT sum(n) FROM a')).toEqual([[2.1]]);
});

describe('parts of different types', () => {
  async function askParts(ending: 'csv' | 'parquet', parts: string[]) {
    const split = await create(ada);
    const database = await (await DuckDBInstance.create(':memory:')).connect();
    for (const [at, part] of parts.entries()) {
      const name = `t-0000${at}-of-0000${parts.length}.${ending}`;
      const file = path.join(folder, name);
      await database.run(`COPY (SELECT ${part}) TO '${file}'`);
      await upload(ada, split, name, new Uint8Array(await readFile(file)));
    }
    return server.send(contract.runSql, { params: { id: split }, body: { query: 'FROM t' } }, { as: ada });
  }

  test.each([
    [
      ['1.5::DECIMAL(4,1) AS v', '1.23456::DECIMAL(8,5) AS v'],
      [['1.50000'], ['1.23456']],
    ],
    [
      ['1::BIGINT AS v', '2.5::DOUBLE AS v'],
      [[1], [2.5]],
    ],
    [
      ['1::TINYINT AS v', '300::BIGINT AS v'],
      [[1], [300]],
    ],
    [
      ["'x' AS v", '5 AS v'],
      [['x'], ['5']],
    ],
    [
      ['1 AS v', "2 AS v, 'only here' AS w"],
      [
        [1, null],
        [2, 'only here'],
      ],
    ],
  ])('preserves the values of %j', async (parts, rows) => {
    expect(await (await askParts('parquet', parts)).json()).toMatchObject({ rows });
  });

  test.each([
    ['parquet', '9007199254740993::BIGINT AS v', '2.5::DOUBLE AS v', "The column 'v' is BIGINT"],
    ['parquet', '1.5::DECIMAL(38,1) AS v', '1.5::DECIMAL(38,30) AS v', "The column 'v' is DECIMAL(38,30)"],
    ['parquet', "{'a': 9007199254740993} AS v", "{'a': 2.5::DOUBLE} AS v", "The column 'v' is STRUCT"],
    ['csv', '1 AS v', '2 AS v, 3 AS w', "The column 'w' is in t-00001-of-00002.csv"],
  ] as const)(
    'rejects parts of %s that would lose values: %s, %s',
    async (ending, first, second, sentence) => {
      const { status, message } = await refusalOf(await askParts(ending, [first, second]));
      expect(status).toBe(400);
      expect(message).toContain(sentence);
      expect(message).toContain('t-00000-of-00002');
    },
  );
});
