import * as z from 'zod';
import { userId } from './accounts.ts';
import { aboutCard } from './asset-commits.ts';
import { endpoint } from './endpoint.ts';
import { flag } from './fields/flag.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { nameText, tags, text } from './fields/text.ts';
import { fineTunePayload } from './fine-tuning.ts';
import {
  DETAILS_LENGTH_MAX,
  MODEL_NAME_LENGTH_MIN,
  NAME_LENGTH_MAX,
  uploadBaseModelTypes,
} from './limits.ts';
import { bglInput } from './money.ts';
import { dataFormat, droppedRow } from './runtime/train-spec.ts';

/** Types that a call can create. */
const datasetTypes = ['RAW', 'MODEL'] as const;
export type DatasetType = (typeof datasetTypes)[number];

/** Types in lists, including vector indexes. */
export const assetTypes = [...datasetTypes, 'VECTOR'] as const;
export type AssetType = (typeof assetTypes)[number];

const title = nameText(NAME_LENGTH_MAX);
const category = text('Category', 100);
const price = bglInput.refine((micro) => micro >= 0n, 'Price must not be negative');
const details = text('Description', DETAILS_LENGTH_MAX);

const assetIdParams = z.object({ id: idOf('dataset or model') });

export const assetFile = z.object({
  path: z.string(),
  size_bytes: z.int(),
  sha256: z.string(),
  uploaded_at: z.string(),
});

export type AssetFile = z.infer<typeof assetFile>;

/** Maximum number of files in an answer. `next_cursor` of the asset's info leads to the next ones. */
export const FILES_SHOWN_MAX = 1000;
/**
 * Number of files included in the asset itself. Small, because few of the pages that read an asset need all.
 */
export const FIRST_FILES_MAX = 500;

/** A dataset or model in lists. */
export const assetSummary = z.object({
  dataset_id: z.string(),
  dataset_type: z.enum(assetTypes),
  title: z.string(),
  category: z.string(),
  details: z.string(),
  tags: z.array(z.string()),
  user_id: z.string().nullable(),
  owner_username: z.string(),
  /** A starter model, which every user may use. */
  is_starter: z.boolean(),
  /** What the model generates, if it is a starter model; null for other assets. */
  starter_task: z.enum(['text', 'embedding', 'image']).nullable(),
  /** Every user may read it. */
  is_published: z.boolean(),
  /** Its owner shares it with selected users. */
  is_shared: z.boolean(),
  /** Its revisions have addresses in IPFS. */
  use_ipfs: z.boolean(),
  price: z.string(),
  embedding_model: z.string(),
  dimensions: z.int(),
  base_model_type: z.string().nullable(),
  /** Model family, e.g. 'llama', 'qwen'; empty if unknown. */
  family: z.string(),
  /** For models in Diffusers' format, the pipeline in model_index.json. In lists if `include_pipelines`. */
  pipeline: z.string().nullable(),
  /** The model from which this one was fine-tuned; null if the caller may not read it. */
  parent_dataset_id: z.string().nullable(),
  /** For models: true if the model is complete in the layout of Transformers, and not an adapter. */
  is_whole: z.boolean(),
  file_count: z.int(),
  size_bytes: z.number(),
  /** Id of the newest revision; null before the first file. */
  revision_id: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});

export type AssetSummary = z.infer<typeof assetSummary>;

/** A repository of a public hub and its commit. */
export const assetSource = z.object({ hub_url: z.string(), repo_id: z.string(), revision: z.string() });

export const assetRevision = z.object({ dataset_id: z.string(), revision_id: z.string(), title: z.string() });

export const asset = assetSummary.extend({
  /** The first 500 of the newest revision's `file_count` files, sorted by path. */
  files: z.array(assetFile),
  /** Cursor for the next files of `GET /api/v1/asset/{id}/info`; null if there are no more. */
  next_files_cursor: z.string().nullable(),
  ...aboutCard,
  /** The sources of a model; null for uploads. Without sources that the caller may not read. */
  lineage: z
    .object({ run_id: z.string(), base_model: assetRevision.nullable(), dataset: assetRevision.nullable() })
    .nullable(),
  /** The repository it was cloned from; null if not cloned. */
  source: assetSource.nullable(),
  downloads: z.int().describe('At most once an hour per user'),
});

export type Asset = z.infer<typeof asset>;

export const assetCreatePayload = only({
  dataset_type: z.enum(datasetTypes, {
    error: ({ input }) =>
      input === 'VECTOR'
        ? 'VECTOR assets are not available on this server. Make a RAW dataset or a MODEL'
        : undefined,
  }),
  title,
  category: category.default(''),
  details: details.default(''),
  tags: tags.default([]),
  user_id: userId,
  price: price.prefault(0),
  embedding_model: z.string().default(''),
  dimensions: z.int().min(0).max(100_000).default(0),
  is_published: z.boolean().default(false),
  /** The original client sends an empty string for none. */
  parent_dataset_id: z.union([z.uuid(), z.literal('')], 'No model has this id').nullish(),
  use_ipfs: z.boolean().default(false),
  base_model_type: z.enum(uploadBaseModelTypes).nullish(),
  fine_tune_payload: fineTunePayload.nullish(),
});

/** Creates a dataset or model. With `fine_tune_payload`, also starts the run. Returns the new id. */
export const createAsset = endpoint({
  method: 'POST',
  path: '/api/v1/asset',
  access: 'key',
  summary: 'Create a dataset or model, or start a fine-tune',
  spends: true,
  body: assetCreatePayload.superRefine((payload, context) => {
    if (payload.dataset_type === 'MODEL' && payload.title.length < MODEL_NAME_LENGTH_MIN) {
      context.addIssue({
        code: 'custom',
        path: ['title'],
        message: `Model name must have at least ${MODEL_NAME_LENGTH_MIN} characters`,
      });
    }
    if (payload.fine_tune_payload && payload.dataset_type !== 'MODEL') {
      context.addIssue({ code: 'custom', path: ['dataset_type'], message: 'A fine-tune makes a MODEL' });
    }
  }),
  response: z.string(),
});

export const getAsset = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id',
  access: 'key',
  summary: 'Get a dataset or model with its files',
  params: assetIdParams,
  response: asset,
});

/** What prevents using a model: sentences that name the missing or invalid file. */
export const modelReadiness = z.object({
  /** Null if it can be deployed on this machine. */
  deploy: z.string().nullable(),
  /** Null if it can be fine-tuned. */
  train: z.string().nullable(),
  /** Whether it is a LoRA that can be selected for a picture. */
  lora: z.boolean(),
});

export type ModelReadiness = z.infer<typeof modelReadiness>;

export const getModelReadiness = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/readiness',
  access: 'key',
  operation: 'check the files of the model',
  summary: 'Check whether a model can be deployed and fine-tuned',
  params: assetIdParams,
  response: modelReadiness,
});

export const listAssets = endpoint({
  method: 'GET',
  path: '/api/v1/datasets',
  access: 'key',
  summary:
    'List datasets or models, newest first: your own, those shared with you, published ones, or `all`; `include_starter` adds the starter models',
  query: z.object({
    /** Defaults to all. */
    types: z.enum(assetTypes).optional(),
    owner: userId,
    /** Sent by older clients. Has no effect, because all assets have the new format. */
    is_new_only: flag.optional(),
    search: z.string().trim().default(''),
    /** Exact, case-sensitive tag. */
    tag: z.string().trim().max(200, 'tag must be at most 200 characters').optional(),
    sort: z.enum(['updated', 'title', 'size']).default('updated'),
    include_starter: flag.default(false),
    /** Which assets: the caller's own, shared with the caller, published (by anyone), or all of these. */
    whose: z.enum(['own', 'shared', 'published', 'all']).default('own'),
    /** Also returns the pipeline of each model in Diffusers' format, which is read from its files. */
    include_pipelines: flag.default(false),
    limit: z.coerce.number().int().min(1).max(100).default(50),
    cursor: z.string().optional(),
  }),
  response: z.object({ datasets: z.array(assetSummary), next_cursor: z.string().nullable() }),
});

export const updateAsset = endpoint({
  method: 'PUT',
  path: '/api/v1/datasets/:id',
  access: 'key',
  operation: 'save the changes',
  summary:
    'Update title, details, category, tags, price, use_ipfs, or is_published: whether every user may read it',
  params: assetIdParams,
  body: z
    .strictObject(
      {
        ...{ title, details, category, tags, price },
        ...{ is_published: z.boolean(), use_ipfs: z.boolean(), user_id: userId },
      },
      {
        error: (issue) =>
          issue.code === 'unrecognized_keys'
            ? `These cannot be changed: ${issue.keys.join(', ')}`
            : undefined,
      },
    )
    .partial(),
  response: asset,
});

export const deleteAsset = endpoint({
  method: 'DELETE',
  path: '/api/v1/asset/:id',
  access: 'key',
  operation: 'delete',
  summary: 'Delete a dataset or model with its files',
  params: assetIdParams,
  status: 204,
});

const uploadFields = z.object({
  path: z
    .string()
    .optional()
    .describe(
      'Path of the file, such as `transformer/config.json`; must precede the file. Relative, with `/` between its folders, ' +
        'without empty parts, `.` and `..`; at most 255 bytes between two `/` and 1024 in all. Defaults to the name of the file.',
    ),
});

/** multipart/form-data with one part named `data_file`. */
export const uploadFile = endpoint({
  method: 'POST',
  path: '/api/v1/asset/:id/upload',
  access: 'key',
  summary: 'Upload a file of at most 500 MB; an existing path is replaced in a new version',
  params: assetIdParams,
  upload: { part: 'data_file', fields: uploadFields },
  response: z.object({ file: assetFile, revision_id: z.string() }),
});

export const downloadFile = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/files/*',
  access: 'key',
  summary: 'Download a file; supports Range',
  answers: { '*/*': null },
  params: z.object({ id: idOf('dataset or model'), '*': z.string().min(1) }),
  query: z.object({ revision_id: idOf('revision').optional() }),
});

export const deleteFile = endpoint({
  method: 'DELETE',
  path: '/api/v1/asset/:id/file',
  access: 'key',
  summary: 'Delete a file in a new version',
  params: assetIdParams,
  body: z.object(
    {
      file_path: z
        .string('Missing required parameters for file deletion')
        .min(1, 'Missing required parameters for file deletion'),
    },
    'Missing required parameters for file deletion',
  ),
  response: z.object({ revision_id: z.string().nullable() }),
});

export const assetInfo = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/info',
  access: 'key',
  operation: 'list the files',
  summary: "Get a file of the latest version, or list a folder's files",
  params: assetIdParams,
  query: z.object({
    path: z.string().default(''),
    /** Only files whose full path has this prefix. */
    prefix: z.string().optional(),
    limit: z.coerce.number().int().min(1).max(FILES_SHOWN_MAX).default(FILES_SHOWN_MAX),
    cursor: z.string().optional(),
  }),
  response: z.object({
    path: z.string(),
    files: z.array(assetFile),
    /** Number of all files below the path, on all pages. */
    file_count: z.int(),
    size_bytes: z.number(),
    next_cursor: z.string().nullable(),
  }),
});

/** Returns the direct contents of a folder, for a file browser. */
export const assetTree = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/tree',
  access: 'key',
  summary: 'List a folder of a version; defaults to the latest',
  params: assetIdParams,
  query: z.object({
    /** Empty for the root. */
    path: z.string().default(''),
    revision_id: idOf('revision').optional(),
    limit: z.coerce.number().int().min(1).max(FILES_SHOWN_MAX).default(100),
    cursor: z.string().optional(),
  }),
  response: z.object({
    path: z.string(),
    entries: z.array(
      z.discriminatedUnion('type', [
        z.object({ type: z.literal('folder'), path: z.string() }),
        assetFile.extend({ type: z.literal('file') }),
      ]),
    ),
    next_cursor: z.string().nullable(),
  }),
});

export const cell = z.union([z.string(), z.number(), z.boolean(), z.null()]);

export const conversationPreview = z.object({
  turns: z.array(z.object({ role: z.string(), content: z.string() })),
  turn_count: z.int(),
});

export const filePreview = z.object({
  /** At most the first 200. Names and cells that end with … are truncated. */
  columns: z.array(z.string()),
  /** Number of columns, including those that are not shown. */
  column_count: z.int(),
  rows: z.array(z.array(cell)),
  /** Null if the file was too large to count. */
  total_rows: z.int().nullable(),
  /** Rows that could not be read, with the reason: the first 100 of `broken_count`. */
  broken: z.array(droppedRow),
  broken_count: z.int(),
  /** How training reads the file by default; null if unknown. */
  format: dataFormat.nullable(),
  /** Why the format is unknown or the file cannot be used for training, with a solution if there is one. */
  format_problem: z.string().nullable(),
  /** If a column contains conversations: the first turns of each row and their number. Otherwise empty. */
  conversations: z.array(conversationPreview),
  /** The complete row as JSON, if the page has a single row of at most 1 MB; otherwise null. */
  whole_row: z.string().nullable(),
});

/** The first rows of a csv, jsonl, json or txt file, optionally gzipped, or a parquet file. */
export const previewFile = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/preview',
  access: 'key',
  operation: 'read the file',
  summary: 'Preview rows of a data file',
  params: assetIdParams,
  query: z.object({
    path: z.string().min(1),
    revision_id: idOf('revision').optional(),
    offset: z.coerce.number().int().min(0).default(0),
    limit: z.coerce.number().int().min(1).max(100).default(100),
  }),
  response: filePreview,
});
