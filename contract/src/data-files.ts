import * as z from 'zod';
import { filePreview } from './assets.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';

const assetIdParams = z.object({ id: idOf('dataset or model') });

/** A file of the newest revision, or of the one that is said. */
const fileQuery = z.object({
  path: z.string().min(1),
  revision_id: idOf('revision').optional(),
});

const range = z.object({
  min: z.number(),
  max: z.number(),
  mean: z.number(),
  /** About: of many numbers it is an estimate. */
  median: z.number(),
  /** The standard deviation; null of less than two numbers, and where it is too large. */
  std: z.number().nullable(),
  /** True if a number is beyond 2^53: then these figures are approximations. SQL returns the exact values. */
  rounded: z.literal(true).optional(),
});

const columnStatistics = z.object({
  /** Cut as in the preview. */
  name: z.string(),
  /** What the filled cells hold; in csv a column of numbers is one though its cells are text. */
  type: z.enum(['text', 'number', 'boolean', 'list', 'object', 'date', 'bytes', 'picture', 'mixed', 'empty']),
  /** Cells that hold something: neither nothing nor blank text. */
  filled: z.int(),
  /** Cells without a value: null, missing, and in csv an empty one. */
  nulls: z.int(),
  /** Different values among them; with `distinct_is_more` it is an estimate, because there are too many to count. */
  distinct: z.int(),
  distinct_is_more: z.boolean(),
  /** Of a column of numbers. */
  numbers: range.nullable(),
  /** Characters of texts, items of lists. */
  lengths: range.nullable(),
  /** How the numbers are spread, else the lengths; each bin holds `from` and all up to `to`. */
  histogram: z.array(z.object({ from: z.number(), to: z.number(), count: z.int() })),
  /** The most frequent values that occur more than once, the first first; none where not all could be told apart. */
  frequent: z.array(z.object({ value: z.string(), count: z.int() })),
});

export type ColumnStatistics = z.infer<typeof columnStatistics>;

export const fileColumns = z.object({
  /** Rows that were looked at. */
  rows: z.int(),
  /** Whether these are all. */
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

const fileVersion = z.object({
  /** The revision that brought it. */
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
    /** Where in the file each of the rows is, from 0. */
    at: z.array(z.int()),
    /** Up to where the file was looked through: how many rows lie before that. */
    rows_read: z.int(),
    /** Whether that is its end; there may be more to be found where not. */
    is_whole: z.boolean(),
    /** The `offset` to look further from; null at the end, and where the rest is too deep in the file to be looked through here. */
    next_offset: z.int().nullable(),
  });

export type FoundRows = z.infer<typeof foundRows>;

const rowFilter = z.strictObject({
  /** Its name, cut as in the preview. */
  column: z.string().max(201),
  /** What is compared: its number or text, its length, or whether there is none. */
  of: z.enum(['value', 'length', 'nothing']).default('value'),
  min: z.number().optional(),
  max: z.number().optional(),
  /** The whole text; one that ends with … is the beginning. */
  value: z.string().max(1000).optional(),
});

export type RowFilter = z.infer<typeof rowFilter>;

const NO_FILTERS = 'filters must be a JSON list such as [{"column": "minutes", "min": 0, "max": 7}]';

/** A list as JSON: a query has none. */
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
      /** From which row on, from 0. */
      offset: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(100).default(100),
    })
    .refine(({ text, filters }) => text !== '' || filters.length > 0, {
      path: ['text'],
      error: 'text is required',
    }),
  response: foundRows,
});

export const rowPictures = z.object({
  /** Of each row: its picture as a WebP of at most 128 x 128 pixels, in a data URL; null where there is none, or it cannot be read. */
  pictures: z.array(z.string().nullable()),
  /** The rows whose pictures cannot be read, from 0, and why. */
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

const filePictures = z.object({
  /** The picture files (png, jpg, webp) in the order of their paths. */
  pictures: z.array(
    z.object({
      path: z.string(),
      size_bytes: z.number(),
      /** Of the picture as it is shown, turned as it says; null where it cannot be read. */
      width: z.int().nullable(),
      height: z.int().nullable(),
      /** As a WebP of at most 128 x 128 pixels, in a data URL; null where it cannot be read. */
      thumbnail: z.string().nullable(),
      /** Why it cannot be read; null: it can. */
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
  summary: 'List picture files with thumbnails, and what is wrong with broken ones',
  params: assetIdParams,
  query: z.object({
    revision_id: idOf('revision').optional(),
    limit: z.coerce.number().int().min(1).max(48).default(24),
    /** The path of the last picture of the page before. */
    cursor: z.string().max(4096).optional(),
  }),
  response: filePictures,
});
