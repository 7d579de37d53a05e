import * as z from 'zod';
import { userId, userIdParams } from '../accounts.ts';
import { endpoint } from '../endpoint.ts';
import { flag } from '../fields/flag.ts';
import { only } from '../fields/only.ts';

/** The public hub's names for models and datasets. */
const repoTypes = ['model', 'dataset'] as const;
export type RepoType = (typeof repoTypes)[number];

/** Error if the public hub does not respond. */
export const HUB_UNREACHABLE = 'Hugging Face cannot be reached from this server';

/** Maximum search results over all pages. */
export const HUB_RESULTS_MAX = 1_000;
/** Maximum files in a repository's details. */
export const HUB_FILES_SHOWN_MAX = 1_000;
const TOKEN_LENGTH_MAX = 500;

/** Name of a repository on the hub: `owner/name`, or only `name` for some of the oldest. */
export const repoId = z
  .string()
  .trim()
  .regex(
    /^[A-Za-z0-9][\w.-]{0,95}(\/[A-Za-z0-9][\w.-]{0,95})?$/,
    'repo_id must be written as on the hub: owner/name',
  );

export const hubRepository = z.object({
  repo_id: z.string(),
  repo_type: z.enum(repoTypes),
  /** True if cloning requires the token of a hub account that has accepted the repository's terms. */
  gated: z.boolean(),
  downloads: z.number(),
  likes: z.number(),
  /** A model's task on the hub, such as `text-generation`. */
  task: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type HubRepository = z.infer<typeof hubRepository>;

export const searchHub = endpoint({
  method: 'GET',
  path: '/api/v1/huggingface/search',
  access: 'key',
  operation: 'search the public hub',
  summary: 'Search models or datasets on the public hub, most downloaded first',
  query: z.object({
    query: z.string().trim().max(200, 'Search for at most 200 characters').default(''),
    search_type: z.enum(repoTypes).default('model'),
    page: z.coerce.number().int().min(1).max(HUB_RESULTS_MAX).default(1),
    top_k: z.coerce.number().int().min(1).max(100).default(30),
  }),
  response: z.object({
    results: z.array(hubRepository),
    /**
     * The hub returns no total. This is the number of results up to this page, plus one if there are more.
     */
    total_results: z.int(),
  }),
});

export const hubRepositoryFile = z.object({
  path: z.string(),
  size_bytes: z.number(),
  /** True if the file is not copied, because the repository has the same weights as safetensors. */
  left_out: z.boolean(),
});

/** Whether this server can use a model, and on which device. */
export const modelUse = z.object({
  /** The device on which it would run, such as `CPU`; null if it cannot run. */
  device: z.string().nullable(),
  /** Why not, as a sentence. */
  obstacle: z.string().nullable(),
});

export const hubRepositoryDetails = hubRepository.extend({
  /** Id of the commit that would be cloned. */
  revision: z.string(),
  /** From its card, such as `apache-2.0`. */
  licence: z.string().nullable(),
  tags: z.array(z.string()),
  /** Model family, e.g. 'llama', 'qwen'; empty if unknown. */
  family: z.string(),
  /** Number and size of the files that would be cloned. */
  file_count: z.int(),
  size_bytes: z.number(),
  left_out: z.object({ file_count: z.int(), size_bytes: z.number() }),
  /** The first 1,000 files, if `include_file_info` is set. */
  files: z.array(hubRepositoryFile),
  /** The user's remaining storage, and the free disk space; null for no limit. */
  quota_left_bytes: z.number().nullable(),
  disk_left_bytes: z.number().nullable(),
  /** Why it cannot be cloned, as a sentence; null if it can. */
  obstacle: z.string().nullable(),
  /** Null for a dataset. */
  deploy: modelUse.nullable(),
  train: modelUse.nullable(),
  /** The dataset or model that the latest clone of it created here. */
  cloned_asset_id: z.string().nullable(),
});
export type HubRepositoryDetails = z.infer<typeof hubRepositoryDetails>;

export const getHubRepository = endpoint({
  method: 'GET',
  path: '/api/v1/huggingface/assets/details',
  access: 'key',
  operation: 'read the repository',
  summary: 'Get a repository of the public hub: its size, license and possible uses here',
  query: z.object({
    repo_id: repoId,
    repo_type: z.enum(repoTypes).default('model'),
    user_id: userId,
    include_file_info: flag.default(false),
  }),
  response: hubRepositoryDetails,
});

export const hubToken = z.object({
  /** Null if no token is stored. The token itself is never returned. */
  token: z.object({ account: z.string(), saved_at: z.string() }).nullable(),
});

export const getHubToken = endpoint({
  method: 'GET',
  path: '/api/v1/users/:userId/huggingface-token',
  access: 'key',
  operation: 'read whether a token is saved',
  summary: 'Check whether an access token of the public hub is saved',
  params: userIdParams,
  response: hubToken,
});

export const saveHubToken = endpoint({
  method: 'PUT',
  path: '/api/v1/users/:userId/huggingface-token',
  access: 'key',
  operation: 'save the token',
  summary: 'Save an access token of the public hub, for gated repositories',
  params: userIdParams,
  body: only({
    token: z
      .string()
      .trim()
      .min(1, 'Enter an access token')
      .max(TOKEN_LENGTH_MAX, `The token must have at most ${TOKEN_LENGTH_MAX} characters`)
      .regex(/^[\x21-\x7e]*$/, 'The token has characters that no token has'),
  }),
  response: hubToken,
});

export const deleteHubToken = endpoint({
  method: 'DELETE',
  path: '/api/v1/users/:userId/huggingface-token',
  access: 'key',
  operation: 'delete the token',
  summary: 'Delete the access token of the public hub',
  params: userIdParams,
  response: hubToken,
});
