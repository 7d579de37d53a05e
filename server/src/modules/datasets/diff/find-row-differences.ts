import path from 'node:path';
import type { RowDifferences } from '@bakehouse/contract/data-files';
import type { DuckDBConnection } from '@duckdb/node-api';
import { type LoadedTable, loadTable, rowValues } from '../duckdb/load-table.ts';
import { openDatabase } from '../duckdb/open-database.ts';
import { list } from '../duckdb/quote.ts';
import { readValue } from '../duckdb/read-value.ts';
import { NAME_CHARS_MAX } from '../preview/read-preview.ts';
import { cut } from '../preview/table.ts';
import { toCell } from '../preview/to-cell.ts';
import { Unreadable } from '../preview/unreadable.ts';
import { findKey, type Side } from './find-key.ts';

/** Rows that are shown of each kind. */
const SHOWN_MAX = 20;
const CELL_CHARS_MAX = 500;
const INTERRUPT_MS = 50;

/** Two versions of a data file, by their names in a folder; null where there is none. */
export type RowsPair = {
  folder: string;
  name: string;
  before: string | null;
  after: string | null;
  /** How long it may take. */
  seconds: number;
};

/**
 * Which rows the two do not share, by the columns that both have. Equal rows are matched however often they stand there and
 * in whatever order; of those left, two with the same value in a column that tells rows apart are one that was changed.
 * Throws Unreadable as the preview does, and what DuckDB throws. The files are not trusted: run it confined.
 */
export async function findRowDifferences(pair: RowsPair): Promise<RowDifferences> {
  process.chdir(pair.folder);
  const files = [pair.before, pair.after].filter((file) => file !== null);
  const database = await openDatabase(files);
  const end = performance.now() + pair.seconds * 1000;
  // Again and again: between two queries there is nothing to end.
  const timer = setInterval(() => performance.now() >= end && database.interrupt(), INTERRUPT_MS);
  try {
    const before = await open(database, pair, 'before');
    const after = await open(database, pair, 'after');
    return await compare(database, before, after);
  } finally {
    clearInterval(timer);
  }
}

/** Whether the comparison has ended because it took too much time or memory. */
export function isTooMuch(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^(INTERRUPT|Out of Memory) Error/.test(error.message) || isTooMuch(error.cause);
}

async function open(
  database: DuckDBConnection,
  pair: RowsPair,
  name: Side['name'],
): Promise<LoadedTable | null> {
  const localPath = pair[name];
  if (localPath === null) return null;
  const table = await loadTable(database, { localPath, name: path.basename(pair.name) }, `loaded_${name}`);
  if (!table.isWhole || table.columns.count > table.columns.names.length)
    throw new Unreadable(
      `${pair.name} has too many cells to be compared here. Download both to compare them.`,
    );
  return table;
}

async function compare(
  database: DuckDBConnection,
  old: LoadedTable | null,
  young: LoadedTable | null,
): Promise<RowDifferences> {
  const [olds, youngs] = [old?.columns.names, young?.columns.names];
  const columns = (youngs ?? olds ?? []).filter((name) => !olds || !youngs || olds.includes(name));
  if (columns.length === 0)
    throw new Unreadable('The two have no column in common, so that no row is comparable.');
  const sides = [sideOf('before', old, columns), sideOf('after', young, columns)].filter(
    (side) => side !== null,
  );
  const counts = new Map<string, number>();
  for (const side of sides) counts.set(side.name, await hashRows(database, side));
  for (const name of ['before', 'after'] as const)
    if (!counts.has(name)) await database.run(`CREATE TABLE rows_${name} (r BIGINT, h UBIGINT)`);
  await database.run(
    `CREATE TABLE removed AS SELECT r FROM (${numbered('before')} EXCEPT ${numbered('after')}) JOIN ${numbered('before', 'all_rows')} USING (h, n);
     CREATE TABLE added AS SELECT r FROM (${numbered('after')} EXCEPT ${numbered('before')}) JOIN ${numbered('after', 'all_rows')} USING (h, n);`,
  );
  const key = old && young ? await findKey(database, sides, columns) : null;
  await database.run(
    key === null
      ? 'CREATE TABLE changed (old BIGINT, young BIGINT)'
      : `CREATE TABLE changed AS SELECT b.r AS old, a.r AS young
         FROM (FROM key_before SEMI JOIN removed USING (r)) b JOIN (FROM key_after SEMI JOIN added USING (r)) a USING (k);
         DELETE FROM removed WHERE r IN (SELECT old FROM changed);
         DELETE FROM added WHERE r IN (SELECT young FROM changed)`,
  );
  const shown = (name: string) => cut(name, NAME_CHARS_MAX);
  return {
    problem: null,
    columns: columns.map(shown),
    added_columns: olds && youngs ? youngs.filter((name) => !olds.includes(name)).map(shown) : [],
    removed_columns: olds && youngs ? olds.filter((name) => !youngs.includes(name)).map(shown) : [],
    key_column: key === null ? null : shown(columns[key] ?? ''),
    rows_before: counts.get('before') ?? 0,
    rows_after: counts.get('after') ?? 0,
    ...(await readDifferences(database, sides)),
  };
}

function sideOf(name: Side['name'], table: LoadedTable | null, columns: string[]): Side | null {
  return table && { name, table, place: columns.map((column) => table.columns.names.indexOf(column)) };
}

/** Which row has which values, as a number for all of them together. Answers how many rows there are. */
async function hashRows(database: DuckDBConnection, { name, table, place }: Side): Promise<number> {
  // As text: a column that has become one of larger numbers holds the same.
  const values = place.map((at) => `c${at}::VARCHAR`);
  await database
    .run(`CREATE TABLE rows_${name} AS SELECT r, hash(${list(values)}) AS h FROM ${table.from}`)
    .catch((error: unknown) => {
      throw table.refusal(error);
    });
  const counted = await database.runAndReadAll(`SELECT count(*) FROM rows_${name}`);
  return Number(counted.getRows()[0]?.[0]);
}

/** Equal rows told apart by how many of them stand before each. */
function numbered(name: Side['name'], alias = ''): string {
  return alias
    ? `(SELECT r, h, row_number() OVER (PARTITION BY h ORDER BY r) AS n FROM rows_${name}) ${alias}`
    : `SELECT h, row_number() OVER (PARTITION BY h ORDER BY r) AS n FROM rows_${name}`;
}

type Found = Pick<
  RowDifferences,
  'added' | 'removed' | 'changed' | 'added_count' | 'removed_count' | 'changed_count'
>;

async function readDifferences(database: DuckDBConnection, sides: Side[]): Promise<Found> {
  const count = async (table: string) =>
    Number((await database.runAndReadAll(`SELECT count(*) FROM ${table}`)).getRows()[0]?.[0]);
  const numbers = async (sql: string) =>
    (await database.runAndReadAll(`${sql} LIMIT ${SHOWN_MAX}`)).getRows().map((row) => row.map(Number));
  const pairs = await numbers('SELECT old, young FROM changed ORDER BY young');
  const removed = (await numbers('SELECT r FROM removed ORDER BY r')).map(([r = 0]) => r);
  const added = (await numbers('SELECT r FROM added ORDER BY r')).map(([r = 0]) => r);
  const [olds, youngs] = [pairs.map(([old = 0]) => old), pairs.map(([, young = 0]) => young)];
  const before = await readRows(database, sides, 'before', [...removed, ...olds]);
  const after = await readRows(database, sides, 'after', [...added, ...youngs]);
  const rowOf = (rows: Map<number, Row>, at: number): Row => rows.get(at) ?? { at, values: [] };
  return {
    added_count: await count('added'),
    removed_count: await count('removed'),
    changed_count: await count('changed'),
    added: added.map((at) => rowOf(after, at)),
    removed: removed.map((at) => rowOf(before, at)),
    changed: olds.map((at, index) => ({
      before: rowOf(before, at),
      after: rowOf(after, youngs[index] ?? 0),
    })),
  };
}

type Row = RowDifferences['added'][number];

/** The rows of these numbers, as a screen shows them. */
async function readRows(
  database: DuckDBConnection,
  sides: Side[],
  name: Side['name'],
  at: number[],
): Promise<Map<number, Row>> {
  const side = sides.find((one) => one.name === name);
  if (!side || at.length === 0) return new Map();
  const { table, place } = side;
  const columns = place.map((column) => `c${column}`).join(', ');
  const found = await database.runAndReadAll(
    `SELECT r, ${columns} FROM ${table.from} WHERE r IN (${at.join(', ')})`,
  );
  return new Map(
    found.convertRows(readValue).map(([r, ...cells]) => {
      const values = rowValues(table.kind, cells).map((value) => toCell(value, CELL_CHARS_MAX));
      return [Number(r), { at: Number(r), values }];
    }),
  );
}
