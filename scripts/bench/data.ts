import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createAsset, previewFile } from '@bakehouse/contract/assets';
import { describeColumns } from '@bakehouse/contract/data-files';
import { runSql } from '@bakehouse/contract/sql';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { Client } from '../client/client.ts';
import { startSeparateServer } from '../client/separate-server.ts';
import { type Measured, median } from './measured.ts';

const ROUNDS = 3;
const ROWS = 3_000_000;
const MB = 1_000_000;
/** The same number as in the server's own reader. */
const THREADS = '2';
/** Time to start the process that reads the file, which the reference does not have. */
const START_MS = 1_000;

const QUESTION = 'SELECT flour, count(*), avg(minutes) FROM loaves GROUP BY ALL ORDER BY ALL';

/** Measures queries of a large data file over HTTP, compared with plain DuckDB with as many threads. */
export async function measureData(): Promise<Measured[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-bench-'));
  const server = await startSeparateServer({ BAKEHOUSE_PREPARE: 'false' });
  try {
    const instance = await DuckDBInstance.create(':memory:', { threads: THREADS });
    const duckdb = await instance.connect();
    const client = await Client.signUp(server.url, {
      name: 'Bench',
      email: 'bench@example.com',
      password: 'sourdough-starter',
    });
    const lines: Measured[] = [];
    for (const ending of ['csv', 'parquet']) {
      const file = path.join(folder, `loaves.${ending}`);
      await writeLoaves(duckdb, file);
      lines.push(...(await measureFile(client, duckdb, file)));
    }
    return lines;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeLoaves(duckdb: DuckDBConnection, file: string): Promise<void> {
  await duckdb.run(
    `COPY (SELECT i AS id, 'What is loaf ' || i || ' made of, and how is it ' || i * 7919 % 1000 AS question,
       'It is ' || repeat('baked ', (i % 20)::INT) || i AS answer, i * 31 % 97 AS minutes,
       ['rye', 'wheat', 'spelt'][i % 3 + 1] AS flour FROM range(${ROWS}) t(i)) TO '${file}'`,
  );
}

async function measureFile(client: Client, duckdb: DuckDBConnection, file: string): Promise<Measured[]> {
  const name = path.basename(file);
  const id = await client.call(createAsset, {
    body: { dataset_type: 'RAW', title: name, user_id: client.userId },
  });
  await client.upload(id, file);
  const what = `${name} of ${Math.round((await stat(file)).size / MB)} MB`;
  const first = await rounds(() => client.call(previewFile, { params: { id }, query: { path: name } }));
  const deep = await rounds(() =>
    client.call(previewFile, { params: { id }, query: { path: name, offset: ROWS - 1000 } }),
  );
  const sql = await rounds(() => client.call(runSql, { params: { id }, body: { query: QUESTION } }));
  const bareSql = await rounds(() => duckdb.run(QUESTION.replace('loaves', `'${file}'`)));
  // Measured once, because the answer is cached.
  const columns = await timed(() => client.call(describeColumns, { params: { id }, query: { path: name } }));
  const bareColumns = await rounds(() => duckdb.run(`SUMMARIZE '${file}'`));
  const most = { kind: 'ratio at most', value: 1.2, orMoreBy: START_MS } as const;
  return [
    { name: `first rows, ${what}`, unit: 'ms', ours: first, goal: { kind: 'less than', value: 1000 } },
    { name: `rows at its end, ${what}`, unit: 'ms', ours: deep },
    {
      name: `SQL, ${what}`,
      unit: 'ms',
      ours: sql,
      reference: { what: 'DuckDB', value: bareSql },
      goal: most,
    },
    {
      name: `statistics, ${what}`,
      unit: 'ms',
      ours: columns,
      reference: { what: 'DuckDB: SUMMARIZE', value: bareColumns },
    },
  ];
}

async function rounds(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await timed(work));
  return median(times);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
