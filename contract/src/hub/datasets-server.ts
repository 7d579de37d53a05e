import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { hubError } from './shared.ts';

/** The subset that every dataset here has. */
export const ONLY_CONFIG = 'default';
/** Rows of one answer. */
const LENGTH_MAX = 100;

const dataset = z
  .string('dataset is required')
  .min(1, 'dataset is required')
  .max(300)
  .describe('namespace/name, or the id of the dataset');

const ofDataset = z.object({ dataset });

const ofSplit = ofDataset.extend({
  config: z.literal(ONLY_CONFIG, `The only config is '${ONLY_CONFIG}'`).default(ONLY_CONFIG),
  split: z.string('split is required').min(1, 'split is required').max(300),
});

const page = {
  offset: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
  length: z.coerce
    .number()
    .int()
    .min(1)
    .max(LENGTH_MAX, `length must be at most ${LENGTH_MAX}`)
    .default(LENGTH_MAX),
};

const splitName = z.object({ dataset: z.string(), config: z.string(), split: z.string() });
const nothing = { pending: z.array(z.never()), failed: z.array(z.never()) };

/** A column: its place, its name, and its type as the library `datasets` writes it. */
const feature = z.object({ feature_idx: z.int(), name: z.string(), type: z.unknown() });

const row = z.object({
  /** Its place in the split, from 0. */
  row_idx: z.int(),
  row: z.record(z.string(), z.unknown()),
  truncated_cells: z.array(z.string()),
});

export const rowsAnswer = z.object({
  features: z.array(feature),
  rows: z.array(row),
  num_rows_total: z.int(),
  num_rows_per_page: z.int(),
  partial: z.boolean(),
});
export type RowsAnswer = z.infer<typeof rowsAnswer>;

const common = { method: 'GET', access: 'key', operation: 'read the dataset', error: hubError } as const;

export const listSplits = endpoint({
  ...common,
  path: '/hub/datasets-server/splits',
  summary: 'List the splits of a dataset: one for each table of its data files',
  query: ofDataset,
  response: z.object({ splits: z.array(splitName), ...nothing }),
});

export const checkDataset = endpoint({
  ...common,
  path: '/hub/datasets-server/is-valid',
  summary: 'Check what the dataset server can answer for a dataset',
  query: ofDataset,
  response: z.object({
    preview: z.boolean(),
    viewer: z.boolean(),
    search: z.boolean(),
    filter: z.boolean(),
    statistics: z.boolean(),
  }),
});

export const readFirstRows = endpoint({
  ...common,
  path: '/hub/datasets-server/first-rows',
  summary: 'Get the first 100 rows of a split',
  query: ofSplit,
  response: splitName.extend({ features: z.array(feature), rows: z.array(row), truncated: z.boolean() }),
});

export const readSplitRows = endpoint({
  ...common,
  path: '/hub/datasets-server/rows',
  summary: 'Get rows of a split from an offset on',
  query: ofSplit.extend(page),
  response: rowsAnswer,
});

export const searchSplit = endpoint({
  ...common,
  path: '/hub/datasets-server/search',
  summary: 'Search the text columns of a split (case-insensitive)',
  query: ofSplit.extend({
    ...page,
    query: z.string('query is required').trim().min(1, 'query is required').max(200),
  }),
  response: rowsAnswer,
});

export const filterSplit = endpoint({
  ...common,
  path: '/hub/datasets-server/filter',
  summary: 'Filter and sort a split by SQL conditions',
  query: ofSplit.extend({
    ...page,
    where: z.string().trim().max(2000).optional(),
    orderby: z.string().trim().max(500).optional(),
  }),
  response: rowsAnswer,
});

const histogram = z.object({ hist: z.array(z.int()), bin_edges: z.array(z.number()) });
const columnStatistics = z.object({
  nan_count: z.int(),
  nan_proportion: z.number(),
  min: z.number().nullish(),
  max: z.number().nullish(),
  mean: z.number().nullish(),
  median: z.number().nullish(),
  std: z.number().nullish(),
  /** True if a number is beyond 2^53: then these figures are approximations. */
  rounded: z.literal(true).optional(),
  histogram: histogram.nullish(),
  no_label_count: z.int().optional(),
  no_label_proportion: z.number().optional(),
  n_unique: z.int().optional(),
  frequencies: z.record(z.string(), z.int()).optional(),
});
export type SplitColumnStatistics = z.infer<typeof columnStatistics>;

export const readSplitStatistics = endpoint({
  ...common,
  path: '/hub/datasets-server/statistics',
  summary: 'Get statistics of the columns of a split',
  query: ofSplit,
  response: z.object({
    num_examples: z.int(),
    statistics: z.array(
      z.object({ column_name: z.string(), column_type: z.string(), column_statistics: columnStatistics }),
    ),
    partial: z.boolean(),
  }),
});

const sizes = {
  num_bytes_original_files: z.number(),
  num_bytes_parquet_files: z.number(),
  num_bytes_memory: z.number(),
  num_rows: z.int(),
  estimated_num_rows: z.int().nullable(),
};

export const readDatasetSize = endpoint({
  ...common,
  path: '/hub/datasets-server/size',
  summary: 'Get the size of a dataset and of its splits',
  query: ofDataset,
  response: z.object({
    size: z.object({
      dataset: z.object({ dataset: z.string(), ...sizes }),
      configs: z.array(z.object({ dataset: z.string(), config: z.string(), num_columns: z.int(), ...sizes })),
      splits: z.array(splitName.extend({ num_columns: z.int(), ...sizes })),
    }),
    ...nothing,
    failed: z.array(splitName.extend({ error: hubError })).describe('Splits whose files cannot be read'),
    partial: z.boolean(),
  }),
});

export const listParquetFiles = endpoint({
  ...common,
  path: '/hub/datasets-server/parquet',
  summary: 'List the Parquet files of a dataset',
  query: ofDataset,
  response: z.object({
    parquet_files: z.array(splitName.extend({ url: z.string(), filename: z.string(), size: z.number() })),
    ...nothing,
    partial: z.boolean(),
  }),
});
