import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { text } from './fields/text.ts';

/** Revisions as commits: their list, the card as one, and what each has changed. */

/** Bytes that README.md may have where it is written in the app or stands in a commit. */
export const CARD_BYTES_MAX = 1024 * 1024;

/** What a dataset or model says of its card and its name. */
export const aboutCard = {
  /** README.md of the newest revision, if it has one. */
  card: z.string().nullable(),
  /** What the card's metadata (YAML before its text) says; null where it has none that can be read. */
  card_metadata: z
    .object({
      license: z.string().nullable(),
      languages: z.array(z.string()),
      tags: z.array(z.string()),
      base_models: z.array(z.string()),
      datasets: z.array(z.string()),
      pipeline_tag: z.string().nullable(),
      library_name: z.string().nullable(),
    })
    .nullable(),
  /** How the hub's clients call it: `namespace/name`. */
  repo_id: z.string(),
};

const assetIdParams = z.object({ id: idOf('dataset or model') });

const assetCommit = z.object({
  /** 40 hexadecimal digits. */
  commit_id: z.string(),
  /** Null: before the first file. */
  revision_id: z.string().nullable(),
  number: z.int(),
  /** A title, and after an empty line more. */
  message: z.string(),
  /** A username; null where nobody is known. */
  author: z.string().nullable(),
  created_at: z.string(),
  /** By their names. */
  tags: z.array(z.string()),
});

export type AssetCommit = z.infer<typeof assetCommit>;

export const listAssetCommits = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/commits',
  access: 'key',
  operation: 'list the commits',
  summary: 'List the commits of a dataset or model, newest first',
  params: assetIdParams,
  query: z.object({
    limit: z.coerce.number().int().min(1).max(100).default(50),
    /** The id of the last commit of the page before. */
    cursor: z.string().max(40).optional(),
  }),
  response: z.object({ commits: z.array(assetCommit), next_cursor: z.string().nullable() }),
});

const assetCard = z.object({
  /** README.md as it is; empty where there is none. */
  content: z.string(),
  /** False: it is longer than a card may be, and this is its beginning. */
  is_whole: z.boolean(),
  /** The newest commit, which is the parent of the one that saves it. */
  commit_id: z.string(),
});

export const getCard = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/card',
  access: 'key',
  operation: 'read the card',
  summary: 'Get README.md with the commit to save it on',
  params: assetIdParams,
  response: assetCard,
});

export const saveCard = endpoint({
  method: 'PUT',
  path: '/api/v1/asset/:id/card',
  access: 'key',
  operation: 'save the card',
  summary: 'Save README.md as a commit',
  params: assetIdParams,
  // In JSON many characters take two bytes or more.
  bodyBytesMax: 4 * CARD_BYTES_MAX,
  body: only({
    content: z.string('content is required').min(1, 'The card is empty. Delete README.md instead'),
    /** Left out: 'Update README.md'. */
    message: text('Message', 1000).default(''),
    parent_commit: z
      .string('parent_commit is required')
      .regex(/^[0-9a-f]{40}$/, 'parent_commit must be the id of a commit')
      .describe('The newest commit. If another was made since, nothing is saved and the answer is 409.'),
  }),
  response: assetCommit,
});

const fileDifference = z.object({
  path: z.string(),
  change: z.enum(['added', 'removed', 'changed']),
  /** Null of an added file. */
  size_before: z.number().nullable(),
  /** Null of a removed file. */
  size_after: z.number().nullable(),
});

export type FileDifference = z.infer<typeof fileDifference>;

export const compareCommits = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/diff',
  access: 'key',
  operation: 'compare the commits',
  summary: 'List the files that a commit changed',
  params: assetIdParams,
  query: z.object({
    /** The id of a commit, a tag, or `main`. */
    to: z.string().min(1).max(300).default('main'),
  }),
  response: z.object({
    /** The one before it. */
    from: assetCommit,
    to: assetCommit,
    added_count: z.int(),
    removed_count: z.int(),
    changed_count: z.int(),
    /** In the order of their paths: at most the first 1,000. */
    files: z.array(fileDifference),
  }),
});
