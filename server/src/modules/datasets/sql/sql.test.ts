import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import * as contract from '@bakehouse/contract/sql';
import Fastify from 'fastify';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runConfined } from '../../../platform/confined/run-confined.ts';
import { Answer, writeAnswer } from '../../../platform/http/answer.ts';
import { realPython } from '../../../testing/real-python.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { assetCalls, refusalOf } from '../../assets/testing/asset-calls.ts';
import { answerQuery } from './answer-query.ts';
import { RejectedQuery } from './rejected-query.ts';
import { exportSql, PROGRAM } from './run-sql.ts';

const server = await testServer({ config: realPython });
const { create, upload, uploadAt, get } = assetCalls(server);

const FACTS = 'question,answer,minutes\nWho bakes?,Ada,12\nbroken\nWhat?,"Rye, mostly",7\nWhy?,,\n';
const TURNS =
  '{"messages":[{"role":"user","content":"Hi"}],"big":170141183460469231731687303715884105727}\nno JSON\n{"day":"2026-11-26","n":1.5}\n';

let ada: TestUser;
let id: string;
beforeAll(async () => {
  ada = await server.signUp('Ada');
  id = await create(ada);
  await upload(ada, id, 'facts.csv', FACTS);
  await upload(ada, id, 'turns.jsonl', TURNS);
  await upload(ada, id, 'packed.csv.gz', new Uint8Array(gzipSync(FACTS)));
  await upload(ada, id, 'Semi Colon.csv', 'a;b\n1,5;x\n');
  await upload(ada, id, 'wide.csv', new Uint8Array(Buffer.from('\ufeffname,n\nZürich,1\n', 'utf16le')));
  await upload(ada, id, 'latin.csv', new Uint8Array(Buffer.from('name,n\nZürich,1\n', 'latin1')));
  await upload(ada, id, 'notes.txt', 'one\n\nthree "x\n');
  await upload(ada, id, 'README.md', '# Facts\n');
  const parquet = await readFile(path.join(import.meta.dirname, '../preview/fixtures/zstd.parquet'));
  await uploadAt(ada, id, 'parts/loaves-00000-of-00002.parquet', new Uint8Array(parquet));
  await uploadAt(ada, id, 'parts/loaves-00001-of-00002.parquet', new Uint8Array(parquet));
});

type Page = { offset?: number; limit?: number; revision_id?: string };

function ask(query: string, page: Page = {}, as = ada) {
  return server.request(contract.runSql, { params: { id }, body: { query, ...page } }, { as });
}

async function refusal(query: string): Promise<string> {
  const sent = await server.send(contract.runSql, { params: { id }, body: { query } }, { as: ada });
  const { status, message } = await refusalOf(sent);
  expect(status).toBe(400);
  expect(message).not.toMatch(/\/tmp|\/work|\/root|\/home|shared/);
  return message;
}

/** Runs a query over the file facts.csv without a confined process, and returns why it was rejected. */
async function refusalInProcess(query: string): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(path.join(folder, 'facts.csv'), FACTS);
  const tables = [{ name: 'facts', dialect: null, files: [{ as: 'facts.csv', path: 'facts.csv' }] }];
  const before = process.cwd();
  try {
    await answerQuery({ folder, tables, query, seconds: 30, offset: 0, limit: 1 });
  } catch (error) {
    if (error instanceof RejectedQuery) return error.message;
    throw error;
  } finally {
    process.chdir(before);
  }
  throw new Error(`The query was not rejected: ${query}`);
}

test('every data file is a table, and its name needs no quotes', async () => {
  const { tables } = await server.request(contract.listSqlTables, { params: { id } }, { as: ada });
  expect(tables.map(({ name, paths }) => [name, ...paths])).toEqual([
    ['semi_colon', 'Semi Colon.csv'],
    ['facts', 'facts.csv'],
    ['latin', 'latin.csv'],
    ['notes', 'notes.txt'],
    ['packed', 'packed.csv.gz'],
    ['loaves', 'parts/loaves-00000-of-00002.parquet', 'parts/loaves-00001-of-00002.parquet'],
    ['turns', 'turns.jsonl'],
    ['wide', 'wide.csv'],
  ]);
});

describe('a query', () => {
  test('reads csv with types and reports skipped lines', async () => {
    expect(await ask('SELECT answer, minutes * 2 AS twice FROM facts ORDER BY minutes NULLS LAST')).toEqual({
      columns: [
        { name: 'answer', type: 'VARCHAR' },
        { name: 'twice', type: 'BIGINT' },
      ],
      rows: [
        ['Rye, mostly', 14],
        ['Ada', 24],
        [null, null],
      ],
      has_more: false,
      dropped: [{ path: 'facts.csv', line: 3, reason: '1 field instead of 3' }],
      dropped_count: 1,
    });
    const packed = await ask('SELECT count(*) FROM packed');
    expect(packed).toMatchObject({ rows: [[3]], dropped: [{ path: 'packed.csv.gz', line: 3 }] });
  });

  test('reads other delimiters and encodings, text, split Parquet, and the first file as `data`', async () => {
    expect((await ask('FROM data')).rows).toEqual([['1,5', 'x']]);
    const zurich = '{"name":"Zürich","n":1}';
    expect((await ask('SELECT semi_colon.a, wide, latin FROM semi_colon, wide, latin')).rows).toEqual([
      ['1,5', zurich, zurich],
    ]);
    const { rows } = await ask(
      'SELECT (SELECT list(text) FROM notes), (SELECT count(*) FROM loaves), (SELECT max(id) FROM loaves), ' +
        'count(*) FROM facts JOIN turns ON true',
    );
    expect(rows).toEqual([['["one","","three \\"x"]', 12, 6, 6]]);
  });

  test('skips a malformed JSON line and reports it', async () => {
    const found = await ask('SELECT messages[1].content, big, day, n FROM turns');
    expect(found.rows).toEqual([
      ['Hi', '170141183460469231731687303715884105727', null, null],
      [null, null, '2026-11-26', 1.5],
    ]);
    expect(found.dropped).toEqual([
      { path: 'turns.jsonl', line: 2, reason: expect.stringMatching(/^not JSON: /) },
    ]);
  });

  test('returns values that JSON cannot express as text', async () => {
    const { rows } = await ask(
      "SELECT 'nan'::DOUBLE, '-inf'::DOUBLE, 9007199254740993, 3::BIGINT, DATE '2026-11-26', " +
        "TIMESTAMP '2026-11-26 10:00:00.123456', {'a': [1, NULL, 'nan'::DOUBLE]}, MAP {'k': 1}, 1.10, " +
        "'\\xAA\\xBB'::BLOB, INTERVAL 3 DAY, 170141183460469231731687303715884105727",
    );
    expect(rows).toEqual([
      [
        ...['NaN', '-Infinity', '9007199254740993', 3, '2026-11-26', '2026-11-26 10:00:00.123456'],
        ...['{"a":[1,null,"NaN"]}', '[{"key":"k","value":1}]', '1.10', '2 bytes', '3 days'],
        '170141183460469231731687303715884105727',
      ],
    ]);
  });

  test('limits the size of pages', async () => {
    const page = await ask('SELECT range FROM range(5000)', { offset: 4000, limit: 3 });
    expect(page).toMatchObject({ rows: [[4000], [4001], [4002]], has_more: true });
    expect(await ask('FROM range(5)', { offset: 3, limit: 3 })).toMatchObject({
      rows: [[3], [4]],
      has_more: false,
    });
    // Without truncation, the response would have 10 MB.
    const large = await ask("SELECT repeat('x', 10_000) FROM range(1000)", { limit: 1000 });
    expect(large.rows).toHaveLength(1000);
    expect(JSON.stringify(large).length).toBeLessThan(4_100_000);
    expect(JSON.stringify(await ask("SELECT repeat('x', 10_000_000)")).length).toBeLessThan(3_000);
  });

  test('reads an earlier revision', async () => {
    const { revision_id: newest } = await get(ada, id);
    await upload(ada, id, 'changing.csv', 'a\n1\n');
    const { revision_id: before } = await get(ada, id);
    await upload(ada, id, 'changing.csv', 'a\n2\n');
    expect((await ask('FROM changing')).rows).toEqual([[2]]);
    expect((await ask('FROM changing', { revision_id: before ?? '' })).rows).toEqual([[1]]);
    await expect(ask('FROM changing', { revision_id: newest ?? '' })).rejects.toThrow(
      'Table with name changing does not exist!',
    );
  });
});

describe('truncated and damaged files', () => {
  let broken: string;
  const query = (text: string) => ({ params: { id: broken }, body: { query: text } });
  beforeAll(async () => {
    broken = await create(ada);
    const lines = (count: number) =>
      Array.from({ length: count }, (_, at) => `${at},"${at * at}"`).join('\n');
    const packed = gzipSync(`a,b\n${lines(50_000)}`);
    await upload(ada, broken, 'sound.csv', 'a,b\n1,cut\n');
    await upload(ada, broken, 'cut.csv.gz', new Uint8Array(packed.subarray(0, packed.length / 2)));
    await upload(ada, broken, 'harmed.csv.gz', new Uint8Array(packed).fill(7, 5_000, 6_000));
    await upload(ada, broken, 'other.jsonl.gz', '{"a": 1}\n');
    await upload(ada, broken, 'no.parquet', 'PAR1 and nothing more');
  });

  test.each([
    ['cut', 'cut.csv.gz is cut off: upload it again.'],
    ['CUT', 'cut.csv.gz is cut off: upload it again.'],
    ['harmed', 'harmed.csv.gz is damaged: upload it again.'],
    ['other', 'other.jsonl.gz is damaged: upload it again.'],
    ['no', /no\.parquet/],
  ])('rejects %s with the reason', async (table, sentence) => {
    const sent = await server.send(contract.runSql, query(`FROM ${table}`), { as: ada });
    const { status, message } = await refusalOf(sent);
    expect(status).toBe(400);
    expect(message).toMatch(sentence);
  });

  test('do not affect a query that mentions their names only in a string', async () => {
    const text = "SELECT a FROM sound WHERE b IN ('cut', 'harmed', 'other', 'no')";
    expect((await server.request(contract.runSql, query(text), { as: ada })).rows).toEqual([[1]]);
  });
});

describe('a query cannot', () => {
  test.each([
    ['read a file of the machine', "FROM read_text('/etc/passwd')", /Cannot access file "\/etc\/passwd"/],
    ['write a file', "COPY (SELECT 1) TO 'out.csv'", /Only read queries/],
    ['read a setting', "SELECT current_setting('allowed_paths')", /current_setting cannot be used here/],
  ])('%s', async (_what, query, sentence) => {
    expect(await refusal(query)).toMatch(sentence);
  });

  // Starting a confined process takes half a second, so these queries run in this process.
  test.each([
    ['read a file as a table', "FROM '/etc/passwd.csv'", /Cannot access file|does not exist/],
    ['list files', "FROM glob('/*')", /Cannot access/],
    ['read outside its folder', "FROM read_text('../../secret')", /Cannot access/],
    ['open the network', "FROM read_csv('https://example.com/a.csv')", /Cannot access/],
    ['open a bucket', "FROM read_parquet('s3://bucket/a.parquet')", /Cannot access/],
    ['overwrite its own files', "COPY (SELECT 1) TO 'facts.csv'", /Only read queries/],
    [
      'write a log',
      "FROM enable_logging(storage='file', storage_path='facts.csv')",
      /enable_logging cannot be used/,
    ],
    [
      'call a function by another spelling',
      'WITH x AS (FROM system.main."ENABLE_LOGGING"()) FROM x',
      /cannot be used/,
    ],
    ['run text as SQL', "FROM query('SELECT 1')", /query cannot be used/],
    ['follow pointers', 'FROM arrow_scan(1, 2, 3)', /arrow_scan cannot be used/],
    ['attach a database', "ATTACH 'x.db'", /Only read queries/],
    ['install an extension', 'INSTALL httpfs', /Only read queries/],
    ['load an extension', 'LOAD httpfs', /Only read queries/],
    [
      'read a setting by another spelling',
      "SELECT upper(Current_Setting('allowed_paths'))",
      /current_setting cannot be used here/,
    ],
    ['change a setting', 'SET enable_external_access = true', /Only read queries/],
    ['change a setting by a pragma', 'PRAGMA memory_limit = "99GB"', /Only read queries/],
    ['make a table', 'CREATE TABLE x AS SELECT 1', /Only read queries/],
    ['explain a write', "EXPLAIN ANALYZE COPY (SELECT 1) TO 'facts.csv'", /Only read queries/],
    ['include a second query', "SELECT 1; COPY (SELECT 1) TO 'x'", /Only read queries|one query at a time/],
    ['be empty', '-- nothing', /There is no query/],
    ['have a syntax error', 'SELEC 1', /^Parser Error: syntax error at or near "SELEC"\n\nLINE 1: SELEC 1/],
    ['have parameters', 'SELECT $1', /parameters/],
  ])('%s', async (_what, query, sentence) => {
    expect(await refusalInProcess(query)).toMatch(sentence);
  });

  test('take all memory', async () => {
    expect(
      await refusal('SELECT a.range + b.range FROM range(10_000_000) a, range(10_000_000) b ORDER BY 1'),
    ).toBe(
      'The query needs more than 512 MB of memory. Select fewer columns or rows, or aggregate them first.',
    );
    expect(await refusal("SELECT repeat('x', 2_000_000_000)")).toMatch(/memory/);
  });

  test('run forever', async () => {
    const query = 'WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r) SELECT count(*) FROM r';
    const input = { query, tables: [], seconds: 1, offset: 0, limit: 1 };
    const limits = { kind: 'query', cpuSeconds: 30, heapMb: 512, userId: ada.userId } as const;
    expect(await runConfined(server.services.sandbox, { program: PROGRAM, input }, limits)).toEqual({
      refused: 'The query was stopped after 1 second. Read fewer rows, or add a LIMIT.',
    });
  });

  test('change the files it reads', async () => {
    await upload(ada, id, 'facts.csv', FACTS);
    const { files } = await get(ada, id);
    const facts = files.find((file) => file.path === 'facts.csv');
    expect(facts?.sha256).toBe(createHash('sha256').update(FACTS).digest('hex'));
  });

  test("read another user's dataset, or name a file of another dataset", async () => {
    const eve = await server.signUp('Eve');
    await expect(ask('FROM facts', {}, eve)).rejects.toMatchObject({ status: 404 });
    const own = await create(eve);
    await upload(eve, own, 'mine.csv', 'a\n1\n');
    const query = (text: string) =>
      server.request(contract.runSql, { params: { id: own }, body: { query: text } }, { as: eve });
    await expect(query('FROM facts')).rejects.toThrow('Table with name facts does not exist!');
    await expect(query("FROM read_csv('facts.csv')")).rejects.toThrow('Cannot access file "facts.csv"');
    expect((await query('FROM mine')).rows).toEqual([[1]]);
  });

  test.each([
    [{}, 'query is required'],
    [{ query: ' ' }, 'query is required'],
    [{ query: 'x'.repeat(20_001) }, 'query must be at most 20,000 characters'],
    [{ query: 'SELECT 1', limit: 1001 }, /limit/],
    [{ query: 'SELECT 1', rows: 1 }, /rows/],
  ])('have the body %j', async (body, sentence) => {
    const sent = await fetch(`${server.url}/api/v1/asset/${id}/sql`, {
      method: 'POST',
      headers: { 'x-api-key': ada.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { status, message } = await refusalOf(sent);
    expect(status).toBe(400);
    expect(message).toMatch(sentence);
  });
});

describe('export as a file', () => {
  const send = (query: string, format?: contract.SqlFormat) =>
    server.send(
      contract.exportSql,
      { params: { id }, body: { query, ...(format && { format }) } },
      { as: ada },
    );

  test('CSV', async () => {
    const sent = await send('SELECT answer, minutes FROM facts; -- all');
    expect(sent.headers.get('content-type')).toContain('text/csv');
    expect(sent.headers.get('content-disposition')).toContain('result.csv');
    expect(await sent.text()).toBe('answer,minutes\nAda,12\n"Rye, mostly",7\n,\n');
  });

  test('Parquet that is a valid data file', async () => {
    const sent = await send('SELECT range AS n FROM range(100_000)', 'parquet');
    const bytes = new Uint8Array(await sent.arrayBuffer());
    await upload(ada, id, 'again.parquet', bytes);
    expect((await ask('SELECT count(*), sum(n) FROM again')).rows).toEqual([[100_000, 4_999_950_000]]);
  });

  test('fails for an invalid query', async () => {
    const { status, message } = await refusalOf(await send('SELECT nope FROM facts'));
    expect({ status, message }).toMatchObject({ status: 400, message: expect.stringContaining('"nope"') });
    expect((await refusalOf(await send("SELECT 1) TO 'x.csv'; --"))).status).toBe(400);
  });

  describe('exports of one user', () => {
    /** More than the buffers of a connection hold. */
    const LARGE = 'SELECT range AS n FROM range(4_000_000)';
    const small = async () => {
      const sent = await send('SELECT 1');
      await sent.text();
      return sent.status;
    };

    test('are limited to two at a time', async () => {
      const both = await Promise.all([send(LARGE), send(LARGE)]);
      expect(both.map(({ status }) => status)).toEqual([200, 200]);
      const { status, message } = await refusalOf(await send('SELECT 1'));
      expect({ status, message }).toMatchObject({
        status: 429,
        message: expect.stringContaining('You are already downloading two results'),
      });
      for (const { body } of both) await body?.cancel();
      await expect.poll(small).toBe(200);
    });

    test('end when the client stops reading', async () => {
      const caller = { kind: 'user' as const, userId: ada.userId, isOperator: false };
      const ctx = { ...server.services, caller, requestId: 'test', idempotencyKey: null };
      const app = Fastify();
      onTestFinished(() => app.close());
      app.get('/', async (_request, reply) => {
        const { body, headers } = await exportSql(ctx, { assetId: id, query: LARGE, format: 'csv' });
        return writeAnswer(ctx, {}, reply, new Answer(body, { headers, stallMs: 50 }));
      });
      const url = await app.listen({ port: 0 });
      // An export of the test before may still be ending.
      const idle = async () => (await fetch(url)).status;
      await expect.poll(idle).toBe(200);
      await expect.poll(idle).toBe(200);
      await expect.poll(small).toBe(200);
    });
  });
});
