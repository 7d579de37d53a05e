import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { text } from './fields/text.ts';

/** Revisions as commits: a list of them, the card as part of a commit, and the changes of each commit. */

/** Maximum bytes of a README.md that is edited in the app or committed inline. */
export const CARD_BYTES_MAX = 1024 * 1024;

/** Card and name of a dataset or model. */
export const aboutCard = {
  /** README.md of the newest revision, if it has one. */
  card: z.string().nullable(),
  /** The card's metadata, from the YAML before its text. Null if it is missing or invalid. */
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
  /** Name for hub clients: `namespace/name`. */
  repo_id: z.string(),
};

const assetIdParams = z.object({ id: idOf('dataset or model') });

export const assetCommit = z.object({
  /** 40 hexadecimal digits. */
  commit_id: z.string(),
  /** Null before the first file. */
  revision_id: z.string().nullable(),
  number: z.int(),
  /** A title, optionally followed by an empty line and a body. */
  message: z.string(),
  /** A username; null if unknown. */
  author: z.string().nullable(),
  created_at: z.string(),
  /** Tag names. */
  tags: z.array(z.string()),
});

export type AssetCommit = z.infer<typeof assetCommit>;

export const listAssetCommits = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/commits',
  access: 'key',
  operation: 'list the versions',
  summary: 'List the commits of a dataset or model, newest first',
  params: assetIdParams,
  query: z.object({
    limit: z.coerce.number().int().min(1).max(100).default(50),
    /** The id of the last commit on the previous page. */
    cursor: z.string().max(40).optional(),
  }),
  response: z.object({ commits: z.array(assetCommit), next_cursor: z.string().nullable() }),
});

export const assetCard = z.object({
  /** Unchanged text of README.md; empty if there is none. */
  content: z.string(),
  /** False if README.md is too long to be shown as a card. Then the text is only its beginning. */
  is_whole: z.boolean(),
  /** The newest commit. Send it as the parent when saving. */
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
  // In JSON many characters take two or more bytes.
  bodyBytesMax: 4 * CARD_BYTES_MAX,
  body: only({
    content: z.string('content is required').min(1, 'The card is empty. Delete README.md instead'),
    /** Defaults to 'Update README.md'. */
    message: text('Message', 1000).default(''),
    parent_commit: z
      .string('parent_commit is required')
      .regex(/^[0-9a-f]{40}$/, 'parent_commit must be the id of a commit')
      .describe('The newest commit. If a later commit exists, nothing is saved and the response is 409.'),
  }),
  response: assetCommit,
});

export const fileDifference = z.object({
  path: z.string(),
  change: z.enum(['added', 'removed', 'changed']),
  /** Null for an added file. */
  size_before: z.number().nullable(),
  /** Null for a removed file. */
  size_after: z.number().nullable(),
});

export type FileDifference = z.infer<typeof fileDifference>;

export const compareCommits = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/diff',
  access: 'key',
  operation: 'compare the versions',
  summary: 'List the files that a commit changed',
  params: assetIdParams,
  query: z.object({
    /** A commit id, a tag, or `main`. */
    to: z.string().min(1).max(300).default('main'),
  }),
  response: z.object({
    /** The commit before it. */
    from: assetCommit,
    to: assetCommit,
    added_count: z.int(),
    removed_count: z.int(),
    changed_count: z.int(),
    /** Sorted by path, at most the first 1,000. */
    files: z.array(fileDifference),
  }),
});
