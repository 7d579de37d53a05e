/**
 * Writes `server/src/platform/db/schema.generated.ts` (the types that Kysely works with) and
 * `server/migrations/schema.sql` (the whole schema, to read) from a database that the migrations
 * have just made. `--check` writes nothing and fails when either is stale.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createPool } from '../../server/src/platform/db/database.ts';
import { MIGRATIONS_DIR, migrate } from '../../server/src/platform/db/setup/migrate.ts';
import { startTemporaryPostgres } from '../../server/src/testing/temporary-postgres.ts';

const root = path.resolve(import.meta.dirname, '../..');

type Pool = ReturnType<typeof createPool>;

type Column = {
  table: string;
  name: string;
  type: string;
  /** Name of the type, of the element type for arrays, of the base type for domains. */
  base: string;
  is_array: boolean;
  nullable: boolean;
  default: string | null;
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
    const outputs = [
      { file: path.join(root, 'server/src/platform/db/schema.generated.ts'), text: await emitTypes(pool) },
      { file: path.join(MIGRATIONS_DIR, 'schema.sql'), text: await emitSql(pool) },
    ];
    for (const { file, text } of outputs) {
      const name = path.relative(root, file);
      const current = await readFile(file, 'utf8').catch(() => '');
      if (current === text) continue;
      if (check) {
        process.exitCode = 1;
        console.error(`${name} is stale: run node scripts/gen/gen-database.ts`);
      } else {
        await writeFile(file, text);
        console.log(`wrote ${name}`);
      }
    }
  } finally {
    await pool.end();
    await server.stop();
  }
}

async function readColumns(pool: Pool): Promise<Column[]> {
  const { rows } = await pool.query<Column>(`
    select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
      coalesce(element.typname, domain_base.typname, t.typname) as base,
      t.typcategory = 'A' as is_array,
      not (a.attnotnull or t.typnotnull) as nullable,
      pg_get_expr(d.adbin, d.adrelid) as default,
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

// --- TypeScript ---

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
    return column.default !== null || column.identity === 'd' ? `Generated<${nullable}>` : nullable;
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

// --- SQL ---

async function emitSql(pool: Pool): Promise<string> {
  const lines = async (sql: string): Promise<string[]> =>
    (await pool.query<{ line: string }>(sql)).rows.map((row) => row.line);

  const extensions = await lines(`select format('create extension %I;', extname) as line from pg_extension
    where extname <> 'plpgsql' order by extname`);
  const enums = (await readEnums(pool)).map(
    ({ name, values }) => `create type ${name} as enum (${values.map((value) => `'${value}'`).join(', ')});`,
  );
  const tables = await emitTables(pool);
  const views =
    await lines(`select format(E'create view %I as\\n%s', c.relname, pg_get_viewdef(c.oid, true)) as line
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where ${tableFilter} and c.relkind in ('v', 'm') order by c.relname`);
  const functions = await lines(`select rtrim(pg_get_functiondef(p.oid), E'\\n') || ';' as line from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = 'public' and p.prokind in ('f', 'p')
      and not exists (select from pg_depend e where e.objid = p.oid and e.deptype = 'e')
    order by p.proname, pg_get_function_identity_arguments(p.oid)`);
  const triggers = await lines(`select pg_get_triggerdef(t.oid, true) || ';' as line from pg_trigger t
    join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
    where ${tableFilter} and not t.tgisinternal order by c.relname, t.tgname`);

  const head =
    '-- The whole schema, made by scripts/gen/gen-database.ts from the migrations. To read, not to run.';
  const parts = [
    extensions.join('\n'),
    enums.join('\n'),
    ...tables,
    ...views,
    ...functions,
    triggers.join('\n'),
  ];
  return `${[head, ...parts].filter(Boolean).join('\n\n')}\n`;
}

async function emitTables(pool: Pool): Promise<string[]> {
  const columns = Map.groupBy(await readColumns(pool), (column) => column.table);
  type Part = { table: string; definition: string };
  const { rows: constraints } = await pool.query<Part>(`
    select c.relname as table, format('constraint %I %s', k.conname, pg_get_constraintdef(k.oid, true)) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
    where ${tableFilter} and k.contype <> 'n'
    order by c.relname, array_position(array['p', 'u', 'x', 'c', 'f', 't'], k.contype::text), k.conname`);
  const { rows: indexes } = await pool.query<Part>(`
    select c.relname as table, pg_get_indexdef(i.indexrelid) || ';' as definition
    from pg_index i join pg_class c on c.oid = i.indrelid join pg_class ic on ic.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
    where ${tableFilter} and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
    order by c.relname, ic.relname`);
  const { rows: names } = await pool.query<{ name: string; unlogged: boolean }>(`
    select c.relname as name, c.relpersistence = 'u' as unlogged from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where ${tableFilter} and c.relkind in ('r', 'p') order by c.relname`);

  return names.map(({ name, unlogged }) => {
    const inside = [
      ...(columns.get(name) ?? []).map(columnSql),
      ...constraints.filter(({ table }) => table === name).map(({ definition }) => definition),
    ];
    const own = indexes.filter(({ table }) => table === name).map(({ definition }) => definition);
    const create = unlogged ? 'create unlogged table' : 'create table';
    return [`${create} ${name} (`, inside.map((line) => `  ${line}`).join(',\n'), ');', ...own].join('\n');
  });
}

function columnSql(column: Column): string {
  const words = [column.name, column.type];
  if (!column.nullable) words.push('not null');
  if (column.identity)
    words.push(`generated ${column.identity === 'a' ? 'always' : 'by default'} as identity`);
  else if (column.generated)
    words.push(`generated always as (${column.default}) ${column.generated === 's' ? 'stored' : 'virtual'}`);
  else if (column.default !== null) words.push(`default ${column.default}`);
  return words.join(' ');
}

await main();
