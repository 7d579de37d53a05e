import * as z from 'zod';
import { cell } from './assets.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';

const params = z.object({ id: idOf('dataset or model') });

/** Maximum characters of a query. */
const QUERY_CHARS_MAX = 20_000;

const asked = {
  query: z
    .string('query is required')
    .trim()
    .min(1, 'query is required')
    .max(QUERY_CHARS_MAX, `query must be at most ${QUERY_CHARS_MAX.toLocaleString('en')} characters`),
  /** Defaults to the newest. */
  revision_id: idOf('revision').optional(),
};

export const sqlTables = z.object({
  /** Tables, sorted by the paths of their files. The first one is also available as `data`. */
  tables: z.array(
    z.object({
      name: z.string(),
      /**
       * The files of the table: one file, or the parts of a split one, such as train-00000-of-00002.parquet.
       */
      paths: z.array(z.string()),
      size_bytes: z.number(),
    }),
  ),
  /** True if some data files are not available as tables. */
  has_more: z.boolean(),
});

export type SqlTables = z.infer<typeof sqlTables>;

export const listSqlTables = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/sql/tables',
  access: 'key',
  summary: 'List the tables that SQL can query: one for each data file',
  params,
  query: z.object({ revision_id: asked.revision_id }),
  response: sqlTables,
});

export const sqlAnswer = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  /** Cells that end with … are truncated; lists and objects are JSON. */
  rows: z.array(z.array(cell)),
  /** True if there are more rows, which a larger `offset` returns. */
  has_more: z.boolean(),
  /** Lines that could not be read: the first 20 of `dropped_count`. */
  dropped: z.array(z.object({ path: z.string(), line: z.int(), reason: z.string() })),
  dropped_count: z.int(),
});

export type SqlAnswer = z.infer<typeof sqlAnswer>;

export const runSql = endpoint({
  method: 'POST',
  path: '/api/v1/asset/:id/sql',
  access: 'key',
  scopes: ['read'],
  operation: 'run the query',
  summary: 'Query the data files in SQL (DuckDB, read-only)',
  params,
  body: z.strictObject({
    ...asked,
    limit: z.int().min(1).max(1000).default(100),
    offset: z.int().min(0).max(1_000_000_000).default(0),
  }),
  response: sqlAnswer,
});

const sqlFormats = ['csv', 'parquet'] as const;
export type SqlFormat = (typeof sqlFormats)[number];

export const exportSql = endpoint({
  method: 'POST',
  path: '/api/v1/asset/:id/sql/export',
  access: 'key',
  scopes: ['read'],
  operation: 'export the result',
  summary: 'Run a query and download all of its rows as CSV or Parquet (at most 1 GB)',
  params,
  body: z.strictObject({ ...asked, format: z.enum(sqlFormats).default('csv') }),
  answers: { 'text/csv': null, 'application/vnd.apache.parquet': null },
});
