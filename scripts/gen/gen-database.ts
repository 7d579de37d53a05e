/**
 * Writes `server/src/platform/db/schema.generated.ts`, the types for Kysely, from a freshly migrated
 * database. `--check` writes nothing and fails if it is stale.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createPool } from '../../server/src/platform/db/database.ts';
import { migrate } from '../../server/src/platform/db/setup/migrate.ts';
import { startTemporaryPostgres } from '../../server/src/testing/temporary-postgres.ts';

const FILE = 'server/src/platform/db/schema.generated.ts';

type Pool = ReturnType<typeof createPool>;

type Column = {
  table: string;
  name: string;
  /** Name of the type, of the element type for arrays, of the base type for domains. */
  base: string;
  is_array: boolean;
  nullable: boolean;
  has_default: boolean;
  identity: '' | 'a' | 'd';
  generated: '' | 's' | 'v';
};

const tableFilter = `n.nspname = 'public' and c.relname <> 'schema_migrations'`;

async function main(): Promise<void> {
  const check = process.argv.includes('--check');
  const server = await startTemporaryPostgres();
  const pool = createPool(server.url);
  try {
    await migrate(server.url);
    const file = path.resolve(import.meta.dirname, '../..', FILE);
    const text = await emitTypes(pool);
    if ((await readFile(file, 'utf8').catch(() => '')) === text) return;
    if (check) {
      process.exitCode = 1;
      console.error(`${FILE} is stale: run node scripts/gen/gen-database.ts`);
    } else {
      await writeFile(file, text);
      console.log(`wrote ${FILE}`);
    }
  } finally {
    await pool.end();
    await server.stop();
  }
}

async function readColumns(pool: Pool): Promise<Column[]> {
  const { rows } = await pool.query<Column>(`
    select c.relname as table, a.attname as name, 
      coalesce(element.typname, domain_base.typname, t.typname) as base,
      t.typcategory = 'A' as is_array,
      not (a.attnotnull or t.typnotnull) as nullable,
      d.adbin is not null as has_default,
      a.attidentity as identity, a.attgenerated as generated
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'v', 'm', 'p')
    join pg_namespace n on n.oid = c.relnamespace
    join pg_type t on t.oid = a.atttypid
    left join pg_type element on element.oid = t.typelem and t.typcategory = 'A'
    left join pg_type domain_base on domain_base.oid = t.typbasetype and t.typtype = 'd'
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where ${tableFilter} and a.attnum > 0 and not a.attisdropped
    order by c.relname, a.attnum`);
  return rows;
}

async function readEnums(pool: Pool): Promise<{ name: string; values: string[] }[]> {
  const { rows } = await pool.query<{ name: string; values: string[] }>(`
    select t.typname as name, array_agg(e.enumlabel::text order by e.enumsortorder) as values
    from pg_enum e join pg_type t on t.oid = e.enumtypid
    join pg_namespace n on n.oid = t.typnamespace
    where n.nspname = 'public' group by t.typname order by t.typname`);
  return rows;
}

const scalarTypes: Record<string, string> = {
  int2: 'number',
  int4: 'number',
  int8: 'bigint',
  float4: 'number',
  float8: 'number',
  numeric: 'string',
  bool: 'boolean',
  text: 'string',
  varchar: 'string',
  bpchar: 'string',
  citext: 'string',
  uuid: 'string',
  date: 'string',
  interval: 'string',
  inet: 'string',
  tsvector: 'string',
  timestamptz: 'Timestamp',
  timestamp: 'Timestamp',
  bytea: 'Buffer',
  json: 'Json',
  jsonb: 'Json',
};

async function emitTypes(pool: Pool): Promise<string> {
  const columns = await readColumns(pool);
  const enums = await readEnums(pool);
  const enumNames = new Set(enums.map(({ name }) => name));
  const tables = Map.groupBy(columns, (column) => column.table);

  const typeOf = (column: Column): string => {
    const scalar = enumNames.has(column.base) ? pascal(column.base) : scalarTypes[column.base];
    if (!scalar) throw new Error(`${column.table}.${column.name}: no TypeScript type for ${column.base}`);
    const value = column.is_array ? `${scalar}[]` : scalar;
    const nullable = column.nullable ? `${value} | null` : value;
    if (column.generated || column.identity === 'a') return `GeneratedAlways<${nullable}>`;
    return column.has_default || column.identity === 'd' ? `Generated<${nullable}>` : nullable;
  };

  return [
    '// Made by scripts/gen/gen-database.ts from the migrations. Do not edit.',
    "import type { ColumnType, GeneratedAlways } from 'kysely';",
    '',
    'export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };',
    '',
    '/** Read as a value, written as JSON text (see toJson in database.ts). */',
    'export type Json = ColumnType<JsonValue, string, string>;',
    '',
    'export type Timestamp = ColumnType<Date, Date | string, Date | string>;',
    '',
    'export type Generated<T> =',
    '  T extends ColumnType<infer S, infer I, infer U> ? ColumnType<S, I | undefined, U> : ColumnType<T, T | undefined, T>;',
    '',
    ...enums.flatMap(({ name, values }) => [
      `export type ${pascal(name)} = ${values.map((value) => `'${value}'`).join(' | ')};`,
      '',
    ]),
    ...[...tables].flatMap(([table, own]) => [
      `export type ${pascal(table)}Table = {`,
      ...own.map((column) => `  ${column.name}: ${typeOf(column)};`),
      '};',
      '',
    ]),
    'export type DB = {',
    ...[...tables.keys()].map((table) => `  ${table}: ${pascal(table)}Table;`),
    '};',
    '',
  ].join('\n');
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

await main();
