import type { DuckDBConnection } from '@duckdb/node-api';
import { text } from '../duckdb/open-database.ts';
import { RejectedQuery } from './rejected-query.ts';

/**
 * The allowed table functions, which only read. Others write logs, follow pointers or run text as SQL. Some
 * write even though external access is disabled.
 */
const READING = new Set(
  [
    'read_csv read_csv_auto read_json read_json_auto read_json_objects read_json_objects_auto read_ndjson',
    'read_ndjson_auto read_ndjson_objects read_parquet parquet_scan read_text read_blob sniff_csv',
    'parquet_metadata parquet_schema parquet_file_metadata parquet_kv_metadata',
    'range generate_series unnest repeat repeat_row json_each json_tree histogram histogram_values summary',
    'duckdb_columns duckdb_functions duckdb_keywords duckdb_tables duckdb_types duckdb_views pragma_table_info',
    'query_table glob',
  ]
    .join(' ')
    .split(' '),
);

/** Not allowed, because settings reveal local folders. */
const SETTINGS_FUNCTION = 'current_setting';

/** How DuckDB parses a query. DuckDB can only serialise SELECT statements. */
type Parsed =
  | { error: true; error_type: string; error_message: string; position?: string }
  | { error: false; statements: object[] };

/** Throws RejectedQuery unless the text is a single read-only statement. */
export async function assertReadOnlyQuery(database: DuckDBConnection, query: string): Promise<void> {
  const answer = await database.runAndReadAll(`SELECT json_serialize_sql(${text(query)})`);
  const parsed: Parsed = JSON.parse(String(answer.getRows()[0]?.[0]));
  if (parsed.error) {
    // Extracting the statement first reports the error's position more precisely.
    if (parsed.error_type === 'parser') await database.extractStatements(query);
    throw new RejectedQuery('Only read queries are allowed: SELECT, FROM, WITH, DESCRIBE, SUMMARIZE, SHOW.');
  }
  if (parsed.statements.length === 0) throw new RejectedQuery('There is no query.');
  if (parsed.statements.length > 1) throw new RejectedQuery('Run one query at a time.');
  for (const { name, isTable } of calledFunctions(parsed.statements)) {
    const isRead = isTable ? READING.has(name.toLowerCase()) : name.toLowerCase() !== SETTINGS_FUNCTION;
    if (!isRead) throw new RejectedQuery(`The function ${name} cannot be used here.`);
  }
}

type Called = { name: string; isTable: boolean };

/** Returns the functions that a parsed statement calls, at any depth of nesting. */
function calledFunctions(statements: object[]): Called[] {
  const all: Called[] = [];
  JSON.stringify(statements, (_key, value: unknown) => {
    const node: { type?: unknown; function_name?: unknown; function?: { function_name?: unknown } } =
      Object(value);
    if (node.type === 'TABLE_FUNCTION')
      all.push({ name: String(node.function?.function_name), isTable: true });
    else if (node.type === 'FUNCTION') all.push({ name: String(node.function_name), isTable: false });
    return value;
  });
  return all;
}
