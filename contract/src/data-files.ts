import * as z from 'zod';
import { filePreview } from './assets.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';

const assetIdParams = z.object({ id: idOf('dataset or model') });

/** A file of the newest or the given revision. */
const fileQuery = z.object({
  path: z.string().min(1),
  revision_id: idOf('revision').optional(),
});

export const numberRange = z.object({
  min: z.number(),
  max: z.number(),
  mean: z.number(),
  /** Approximate for many numbers. */
  median: z.number(),
  /** Standard deviation; null for fewer than two numbers, or if it is too large to compute. */
  std: z.number().nullable(),
  /** True if a number exceeds 2^53. The figures are then approximations, while SQL returns exact values. */
  rounded: z.literal(true).optional(),
});

export const columnStatistics = z.object({
  /** Truncated as in the preview. */
  name: z.string(),
  /** Type of the cells that are not empty. A csv column of numbers counts as numbers, not as text. */
  type: z.enum(['text', 'number', 'boolean', 'list', 'object', 'date', 'bytes', 'picture', 'mixed', 'empty']),
  /** Cells that are neither empty nor blank text. */
  filled: z.int(),
  /** Cells without a value: null, missing, or empty in csv. */
  nulls: z.int(),
  /**
   * Number of distinct values. If there are too many to count, an estimate, and `distinct_is_more` is true.
   */
  distinct: z.int(),
  distinct_is_more: z.boolean(),
  /** For columns of numbers. */
  numbers: numberRange.nullable(),
  /** For texts, their number of characters; for lists, their number of items. */
  lengths: numberRange.nullable(),
  /** Distribution of the numbers, or of lengths if the column has none, in bins from `from` to `to`. */
  histogram: z.array(z.object({ from: z.number(), to: z.number(), count: z.int() })),
  /**
   * The most frequent values that occur more than once. Empty if not all distinct values could be counted.
   */
  frequent: z.array(z.object({ value: z.string(), count: z.int() })),
});

export type ColumnStatistics = z.infer<typeof columnStatistics>;

export const fileColumns = z.object({
  /** Number of analyzed rows. */
  rows: z.int(),
  /** True if these are all rows of the file. */
  is_whole: z.boolean(),
  /** In the order of the preview. */
  columns: z.array(columnStatistics),
});

export type FileColumns = z.infer<typeof fileColumns>;

export const describeColumns = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/columns',
  access: 'key',
  summary: 'Describe the columns of a data file: types, ranges, frequent values',
  params: assetIdParams,
  query: fileQuery,
  response: fileColumns,
});

export const fileVersion = z.object({
  /** The revision that added it. */
  revision_id: z.string(),
  number: z.int(),
  created_at: z.string(),
  sha256: z.string(),
  size_bytes: z.int(),
});

export const listFileVersions = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/versions',
  access: 'key',
  summary: 'List the versions of a file, newest first',
  params: assetIdParams,
  query: fileQuery.pick({ path: true }).extend({
    limit: z.coerce.number().int().min(1).max(100).default(100),
    cursor: idOf('revision').optional(),
  }),
  response: z.object({ versions: z.array(fileVersion), next_cursor: z.string().nullable() }),
});

export const foundRows = filePreview
  .pick({ columns: true, column_count: true, rows: true, format: true, conversations: true })
  .extend({
    /** Position of each row in the file, from 0. */
    at: z.array(z.int()),
    /** Number of rows searched. */
    rows_read: z.int(),
    /** Whether the whole file was searched. */
    is_whole: z.boolean(),
    /** The `offset` for continuing the search. Null at the end of the file, or if that is too slow. */
    next_offset: z.int().nullable(),
  });

export type FoundRows = z.infer<typeof foundRows>;

const rowFilter = z.strictObject({
  /** Column name, truncated as in the preview. */
  column: z.string().max(201),
  /** What to compare: the number or text, its length, or whether there is a value. */
  of: z.enum(['value', 'length', 'nothing']).default('value'),
  min: z.number().optional(),
  max: z.number().optional(),
  /** The exact text. If it ends with …, it only has to be the beginning of the value. */
  value: z.string().max(1000).optional(),
});

export type RowFilter = z.infer<typeof rowFilter>;

const NO_FILTERS = 'filters must be a JSON list such as [{"column": "minutes", "min": 0, "max": 7}]';

/** JSON, because a query string cannot contain a list of objects. */
const rowFilters = z
  .string()
  .max(10_000, 'filters must be at most 10,000 characters')
  .default('[]')
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: NO_FILTERS });
      return z.NEVER;
    }
  })
  .pipe(z.array(rowFilter, NO_FILTERS).max(50, 'Filter by at most 50 columns'));

export const searchRows = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/rows',
  access: 'key',
  summary: 'Search (case-insensitive) and filter rows of a data file, one chunk at a time',
  params: assetIdParams,
  query: fileQuery
    .extend({
      /** Required without filters. */
      text: z.string().trim().max(200, 'Search for at most 200 characters').default(''),
      filters: rowFilters,
      /** First row to search, from 0. */
      offset: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(100).default(100),
    })
    .refine(({ text, filters }) => text !== '' || filters.length > 0, {
      path: ['text'],
      error: 'text is required',
    }),
  response: foundRows,
});

/** Maximum rows of a file whose rows can be edited. */
export const EDITABLE_ROWS_MAX = 100_000;
/** Maximum edits per call. */
export const ROW_EDITS_MAX = 1000;

/** Enough for a row that the preview shows in full. */
const rowText = z.string().max(1_000_000, 'A row has at most 1,000,000 characters').nullable().default(null);

const rowEdit = only({
  at: z
    .int()
    .min(0)
    .max(EDITABLE_ROWS_MAX - 1)
    .nullable()
    .default(null)
    .describe('Position of the row in the file, from 0. Without it, a row is added.'),
  was: rowText.describe(
    'JSON text of an object: values of the row, such as `whole_row` of the preview. If one differs, nothing is saved.',
  ),
  cells: rowText.describe('JSON text of an object: the new values. Without it, the row is deleted.'),
}).refine(({ at, was, cells }) => (at === null ? was === null && cells !== null : was !== null), {
  error: 'An edit has at and was to delete a row, also cells to change it, and only cells to add one',
});

export type RowEdit = z.input<typeof rowEdit>;

export const editRows = endpoint({
  method: 'PATCH',
  path: '/api/v1/asset/:id/rows',
  access: 'key',
  operation: 'save the rows',
  summary: 'Change, delete and add rows of a csv, tsv, jsonl or parquet file as one commit',
  spends: true,
  params: assetIdParams,
  // Parsing a larger body would block the event loop.
  bodyBytesMax: 8 * 1024 * 1024,
  body: only({
    path: z.string().min(1, 'path is required').max(4096),
    revision_id: idOf('revision').describe(
      'The revision that was edited. If the file has changed since, nothing is saved.',
    ),
    edits: z
      .array(rowEdit)
      .min(1, 'edits is empty')
      .max(ROW_EDITS_MAX, `Save at most ${ROW_EDITS_MAX} edits at a time`),
  }),
  response: z.object({ commit_id: z.string(), revision_id: z.string().nullable() }),
});

export const rowPictures = z.object({
  /** Each row's picture as a WebP of at most 128 x 128 pixels in a data URL. Null if it cannot be read. */
  pictures: z.array(z.string().nullable()),
  /** Rows with unreadable pictures, from 0, with the reason. */
  broken: z.array(z.object({ at: z.int(), reason: z.string() })),
});

export type RowPictures = z.infer<typeof rowPictures>;

export const showPictures = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/pictures',
  access: 'key',
  operation: 'show the pictures',
  summary: 'Get thumbnails of the pictures in a column of a Parquet file',
  params: assetIdParams,
  query: fileQuery.extend({
    column: z.string('column is required').min(1, 'column is required').max(201),
    offset: z.coerce.number().int().min(0).default(0),
    limit: z.coerce.number().int().min(1).max(100).default(100),
  }),
  response: rowPictures,
});

export const filePictures = z.object({
  /** Picture files (png, jpg, webp) sorted by path. */
  pictures: z.array(
    z.object({
      path: z.string(),
      size_bytes: z.number(),
      /** Displayed size after EXIF rotation; null if unreadable. */
      width: z.int().nullable(),
      height: z.int().nullable(),
      /** A WebP of at most 128 x 128 pixels in a data URL; null if unreadable. */
      thumbnail: z.string().nullable(),
      /** Why it is unreadable; null if it is fine. */
      problem: z.string().nullable(),
    }),
  ),
  next_cursor: z.string().nullable(),
});

export type FilePictures = z.infer<typeof filePictures>;

export const listFilePictures = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/thumbnails',
  access: 'key',
  operation: 'show the pictures',
  summary: 'List picture files with thumbnails, and the problems of broken ones',
  params: assetIdParams,
  query: z.object({
    revision_id: idOf('revision').optional(),
    limit: z.coerce.number().int().min(1).max(48).default(24),
    /** The path of the previous page's last picture. */
    cursor: z.string().max(4096).optional(),
  }),
  response: filePictures,
});
