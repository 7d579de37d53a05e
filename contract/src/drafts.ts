import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { numberOf } from './fields/bounded-number.ts';
import { idOf } from './fields/id.ts';
import { modelName } from './fields/model-name.ts';
import type { NumberField } from './fields/number-field.ts';
import { only } from './fields/only.ts';
import { bgl } from './money.ts';

/*
 * Rows for training that a model writes from documents. They are in a draft until they are saved in a
 * dataset.
 */

/** Maximum number of drafts per user. */
export const DRAFTS_MAX = 10;
/** Maximum number of documents per draft. */
export const DOCUMENTS_MAX = 20;
export const DOCUMENT_BYTES_MAX = 50 * 1024 * 1024;
export const DOCUMENT_PAGES_MAX = 1_000;
/** Total of all documents of a draft. */
export const DRAFT_CHARACTERS_MAX = 2_000_000;
/** Maximum rows of a draft. */
export const DRAFT_ROWS_MAX = 10_000;
const PROMPT_LENGTH_MAX = 8_000;
const ROW_TEXT_LENGTH_MAX = 20_000;
const ROWS_AT_ONCE_MAX = 1_000;

/** Extensions of supported documents. */
export const documentKinds = ['.pdf', '.docx', '.md', '.txt'] as const;

/** The dataset file for rows from documents. */
export const DOCUMENTS_FILE = 'documents.jsonl';

export const draftNumbers = {
  rows_per_chunk: { label: 'Rows per chunk', min: 1, max: 20, step: 1, default: 3 },
  chunk_characters: { label: 'Characters per chunk', min: 500, max: 20_000, step: 100, default: 2_000 },
  overlap_characters: { label: 'Overlap', min: 0, max: 2_000, step: 50, default: 200 },
} as const satisfies Record<string, NumberField>;

/** Placeholders in a prompt: the text of the chunk, and the requested number of rows. */
export const TEXT_PLACE = '{{text}}';
export const ROWS_PLACE = '{{rows}}';

/**
 * The prompt contains no example row, because small models would copy it. The task is at the end, where small
 * models follow it best.
 */
export const DEFAULT_PROMPT = `Text:
${TEXT_PLACE}

Write ${ROWS_PLACE} questions about this text, each with its answer. Each question is about another fact, and names what it is about, so that it can be understood without the text. Each answer is a full sentence that says only what the text says.

Answer with JSON: an object with a list "rows", in which each row has a "question" and an "answer".`;

/** Why a generated row is dropped. */
const dropReasons = ['unreadable', 'empty', 'cut_off', 'duplicate'] as const;
export type DropReason = (typeof dropReasons)[number];

export const draftSettings = only({
  /** Name of a deployment (`model_name`) or starter model. */
  model: modelName,
  rows_per_chunk: numberOf(draftNumbers.rows_per_chunk),
  chunk_characters: numberOf(draftNumbers.chunk_characters),
  /** Number of characters that two consecutive chunks share. */
  overlap_characters: numberOf(draftNumbers.overlap_characters),
  prompt: z
    .string()
    .max(PROMPT_LENGTH_MAX, `prompt must have at most ${PROMPT_LENGTH_MAX} characters`)
    .refine((text) => text.includes(TEXT_PLACE), `prompt must have ${TEXT_PLACE} where the text goes`)
    .default(DEFAULT_PROMPT),
}).refine(({ chunk_characters: size, overlap_characters: overlap }) => overlap <= size / 2, {
  path: ['overlap_characters'],
  message: 'Overlap must be at most half of the characters per chunk',
});
export type DraftSettings = z.infer<typeof draftSettings>;

export const draftDocument = z.object({
  document_id: z.string(),
  name: z.string(),
  /** Null if the format has no pages. */
  pages: z.int().nullable(),
  /** Pages without text, such as scans. They produce no rows. */
  empty_pages: z.int(),
  characters: z.int(),
});
export type DraftDocument = z.infer<typeof draftDocument>;

export const draft = z.object({
  draft_id: z.string(),
  /** `open` until the draft is started. */
  status: z.enum(['open', 'running', 'cancelling', 'completed', 'cancelled', 'failed']),
  documents: z.array(draftDocument),
  /** Null before it is started. */
  settings: draftSettings.nullable(),
  chunks: z.int(),
  chunks_done: z.int(),
  /** Number of chunks for which the model gave no usable answer. */
  chunks_failed: z.int(),
  /** The document being processed. */
  current_document: z.string().nullable(),
  /** Number of rows, and how many of them are saved in a dataset. */
  rows: z.int(),
  rows_saved: z.int(),
  dropped: z.partialRecord(z.enum(dropReasons), z.int()),
  /** Why the model's last answer could not be used, or why the draft failed. */
  error: z.string().nullable(),
  /** BGL that are held while it runs, and the cost of the answers so far. */
  held: bgl,
  cost_so_far: bgl,
  created_at: z.string(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
});
export type Draft = z.infer<typeof draft>;

export const draftRow = z.object({
  row_id: z.string(),
  question: z.string(),
  answer: z.string(),
  /** The row's document, with the page or heading. */
  source: z.string(),
  document_id: z.string(),
  /** Index of its chunk. */
  chunk: z.int(),
  /** The dataset it was saved in. */
  saved_in: z.string().nullable(),
});
export type DraftRow = z.infer<typeof draftRow>;

const start = only({
  /**
   * Without settings, retries the chunks that have no answer, with the previous settings. With settings,
   * deletes the existing rows and starts again.
   */
  settings: draftSettings.optional(),
});

const draftParams = z.object({ draft_id: idOf('draft') });
const rowText = (name: string) =>
  z
    .string()
    .trim()
    .min(1, `${name} is required`)
    .max(ROW_TEXT_LENGTH_MAX, `${name} must have at most ${ROW_TEXT_LENGTH_MAX} characters`);
const rowIds = z
  .array(idOf('row'))
  .min(1, 'row_ids must name a row')
  .max(ROWS_AT_ONCE_MAX, `row_ids can name at most ${ROWS_AT_ONCE_MAX} rows`);

export const createDraft = endpoint({
  method: 'POST',
  path: '/api/v1/drafts',
  access: 'key',
  operation: 'begin a draft',
  summary: 'Create a draft of rows from documents',
  status: 201,
  response: draft,
});

export const listDrafts = endpoint({
  method: 'GET',
  path: '/api/v1/drafts',
  access: 'key',
  operation: 'list your drafts',
  summary: 'List drafts of rows from documents, newest first',
  response: z.object({ drafts: z.array(draft) }),
});

export const getDraft = endpoint({
  method: 'GET',
  path: '/api/v1/drafts/:draft_id',
  access: 'key',
  operation: 'read the draft',
  summary: 'Get a draft with its documents and progress',
  params: draftParams,
  response: draft,
});

export const deleteDraft = endpoint({
  method: 'DELETE',
  path: '/api/v1/drafts/:draft_id',
  access: 'key',
  operation: 'delete the draft',
  summary: 'Delete a draft with its documents and rows; rows saved in datasets remain',
  params: draftParams,
  status: 204,
});

/** multipart/form-data with one part named `document`. */
export const addDocument = endpoint({
  method: 'POST',
  path: '/api/v1/drafts/:draft_id/documents',
  access: 'key',
  operation: 'add the document',
  summary: 'Add a .pdf, .docx, .md or .txt document of at most 50 MB to a draft',
  params: draftParams,
  upload: { part: 'document' },
  status: 201,
  response: draftDocument,
});

export const removeDocument = endpoint({
  method: 'DELETE',
  path: '/api/v1/drafts/:draft_id/documents/:document_id',
  access: 'key',
  operation: 'remove the document',
  summary: 'Remove a document from a draft, with the rows from it',
  params: draftParams.extend({ document_id: idOf('document') }),
  status: 204,
});

export const quoteDraft = endpoint({
  method: 'POST',
  path: '/api/v1/drafts/:draft_id/quote',
  access: 'key',
  operation: 'work out the price',
  summary: 'Get the number of chunks of a draft and their maximum cost',
  params: draftParams,
  body: start,
  response: z.object({
    chunks: z.int(),
    rows_max: z.int(),
    /** BGL to hold. Tokens are charged as they are used, and the remaining amount is released. */
    highest_bgl: bgl,
  }),
});

export const startDraft = endpoint({
  method: 'POST',
  path: '/api/v1/drafts/:draft_id/start',
  access: 'key',
  spends: true,
  operation: 'start the draft',
  summary: 'Generate rows from the documents of a draft, from the start or from the last position',
  params: draftParams,
  body: start,
  status: 202,
  response: draft,
});

export const cancelDraft = endpoint({
  method: 'POST',
  path: '/api/v1/drafts/:draft_id/cancel',
  access: 'key',
  operation: 'cancel the draft',
  summary: 'Cancel a draft: generated rows remain and are charged',
  params: draftParams,
  response: draft,
});

export const listDraftRows = endpoint({
  method: 'GET',
  path: '/api/v1/drafts/:draft_id/rows',
  access: 'key',
  operation: 'list the rows',
  summary: 'List the rows of a draft, in the order of the documents',
  params: draftParams,
  query: only({
    document_id: idOf('document').optional(),
    cursor: idOf('row').optional(),
    limit: z.coerce.number().int().min(1).max(100).default(50),
  }),
  response: z.object({ rows: z.array(draftRow), next_cursor: z.string().nullable() }),
});

export const getChunk = endpoint({
  method: 'GET',
  path: '/api/v1/drafts/:draft_id/chunks/:number',
  access: 'key',
  operation: 'read the source',
  summary: 'Get the text that rows of a draft were written from',
  params: draftParams.extend({ number: z.coerce.number().int().min(0).max(DRAFT_CHARACTERS_MAX) }),
  response: z.object({ source: z.string(), text: z.string() }),
});

export const changeDraftRow = endpoint({
  method: 'PATCH',
  path: '/api/v1/drafts/:draft_id/rows/:row_id',
  access: 'key',
  operation: 'save the row',
  summary: 'Change the question and answer of an unsaved row',
  params: draftParams.extend({ row_id: idOf('row') }),
  // Each character may have four bytes.
  bodyBytesMax: 256 * 1024,
  body: only({ question: rowText('question'), answer: rowText('answer') }),
  response: draftRow,
});

export const deleteDraftRows = endpoint({
  method: 'POST',
  path: '/api/v1/drafts/:draft_id/rows/delete',
  access: 'key',
  operation: 'delete the rows',
  summary: 'Delete rows of a draft; rows saved in a dataset remain there',
  params: draftParams,
  body: only({ row_ids: rowIds }),
  response: z.object({ deleted: z.int() }),
});

/** Appends to `documents.jsonl`, which fine-tuning can read; creates the file if missing. */
export const saveDraftRows = endpoint({
  method: 'POST',
  path: '/api/v1/drafts/:draft_id/save',
  access: 'key',
  spends: true,
  operation: 'save the rows',
  summary: 'Save rows of a draft in a dataset, each once',
  params: draftParams,
  body: only({
    asset_id: idOf('dataset'),
    /** Defaults to all unsaved rows. */
    row_ids: rowIds.optional(),
  }),
  response: z.object({ commit_id: z.string(), file_name: z.string(), saved: z.int() }),
});
