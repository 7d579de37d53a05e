import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { only } from '../fields/only.ts';
import {
  hubError,
  repeated,
  repeatedField,
  repositoryParams,
  repositoryType,
  repositoryTypes,
  revisionParams,
  sibling,
  yesOrNo,
} from './shared.ts';

/** Returns who the caller is, for hub clients. */
export const whoAmI = endpoint({
  method: 'GET',
  path: '/hub/api/whoami-v2',
  access: 'key',
  summary: 'Get the user of an API key, as the hub does',
  error: hubError,
  response: z.object({
    type: z.literal('user'),
    id: z.string(),
    /** The user's namespace. */
    name: z.string(),
    fullname: z.string(),
    email: z.string(),
    emailVerified: z.boolean(),
    isPro: z.literal(false),
    canPay: z.literal(false),
    orgs: z.array(z.never()),
    auth: z.object({
      type: z.literal('access_token'),
      accessToken: z.object({ displayName: z.string(), role: z.enum(['read', 'write']) }),
    }),
  }),
});

/** Fields that a repository has in every list. */
export const repositorySummary = z.object({
  _id: z.string(),
  id: z.string(),
  /** Only for models: the same value as `id`. */
  modelId: z.string().optional(),
  author: z.string(),
  /** Id of the newest or the requested commit. */
  sha: z.string(),
  lastModified: z.string(),
  createdAt: z.string(),
  private: z.boolean(),
  gated: z.union([z.literal(false), z.literal('manual')]),
  disabled: z.literal(false),
  downloads: z.int(),
  likes: z.literal(0),
  tags: z.array(z.string()),
  pipeline_tag: z.string().optional(),
  library_name: z.string().optional(),
});
export type RepositorySummary = z.infer<typeof repositorySummary>;

export const repositoryInfo = repositorySummary.extend({
  /** The metadata at the start of the card. */
  cardData: z.record(z.string(), z.unknown()).optional(),
  siblings: z.array(sibling).optional(),
  usedStorage: z.number(),
  safetensors: z.object({ parameters: z.record(z.string(), z.number()), total: z.number() }).optional(),
});
export type RepositoryInfo = z.infer<typeof repositoryInfo>;

export const listRepositories = endpoint({
  method: 'GET',
  path: '/hub/api/:type',
  access: 'key',
  summary: 'List models or datasets, as the hub does; the header Link has the next page',
  params: z.object({ type: z.enum(repositoryTypes, 'Repositories here are models and datasets') }),
  // Rejects unknown filters, because ignoring them would return the wrong repositories.
  query: only({
    search: z.string().trim().max(200).default(''),
    /** A namespace. */
    author: z.string().max(200).optional(),
    /** Only repositories with all of these tags. The task, library and license of a card count as tags. */
    filter: repeated,
    /** The task of the card. */
    pipeline_tag: z.string().max(200).optional(),
    sort: z.string().max(100).optional(),
    limit: z.coerce.number().int().min(1).default(100),
    cursor: z.string().max(2000).optional(),
    /** Has no effect, because answers always contain all fields. */
    full: z.unknown().optional(),
    config: z.unknown().optional(),
    cardData: z.unknown().optional(),
    direction: z.unknown().optional(),
    expand: z.unknown().optional(),
    'expand[]': z.unknown().optional(),
  }),
  error: hubError,
  response: z.array(repositorySummary),
});

/** Limits the length of the next page's URL, because Node rejects headers above 16 KiB. */
const fields = repeatedField(z.string().regex(/^[A-Za-z_-]{1,40}$/, 'must be the name of a field'), 40);

const infoQuery = z.object({
  /** Also returns the size of each file. */
  blobs: yesOrNo,
  /** Names of the fields to return. Without `siblings`, files are omitted. */
  expand: fields,
  'expand[]': fields,
});

export const getRepository = endpoint({
  method: 'GET',
  path: '/hub/api/:type/:namespace/:name',
  access: 'key',
  summary: 'Get a model or dataset with its files, as the hub does',
  params: repositoryParams,
  query: infoQuery,
  error: hubError,
  response: repositoryInfo,
});

export const getRepositoryRevision = endpoint({
  method: 'GET',
  path: '/hub/api/:type/:namespace/:name/revision/:revision',
  access: 'key',
  summary: 'Get a revision of a model or dataset with its files, as the hub does',
  params: revisionParams,
  query: infoQuery,
  error: hubError,
  response: repositoryInfo,
});

/** Returns 200 if the caller may read the repository. */
export const checkRepositoryAccess = endpoint({
  method: 'GET',
  path: '/hub/api/:type/:namespace/:name/auth-check',
  access: 'key',
  summary: 'Check whether a model or dataset can be read, as the hub does',
  params: repositoryParams,
  error: hubError,
  response: z.object({
    success: z.literal(true),
    /** The id of the dataset or model. */
    _id: z.string(),
  }),
});

const visibility = z.enum(['private', 'public'], 'Repositories are private or public').optional();

export const createRepository = endpoint({
  method: 'POST',
  path: '/hub/api/repos/create',
  access: 'key',
  summary: 'Create a model or dataset, as the hub does',
  body: z.object({
    name: z.string().min(1).max(200),
    /** The namespace, which must be the caller's. */
    organization: z.string().max(200).nullish(),
    type: repositoryType.nullish(),
    private: z.boolean().nullish(),
    visibility: visibility.nullish(),
  }),
  error: hubError,
  response: z.object({ url: z.string(), name: z.string(), id: z.string() }),
});

export const deleteRepository = endpoint({
  method: 'DELETE',
  path: '/hub/api/repos/delete',
  access: 'key',
  summary: 'Delete a model or dataset, as the hub does',
  body: z.object({
    name: z.string().min(1).max(200),
    organization: z.string().max(200).nullish(),
    type: repositoryType.nullish(),
  }),
  error: hubError,
  response: z.object({ success: z.literal(true) }),
});

export const moveRepository = endpoint({
  method: 'POST',
  path: '/hub/api/repos/move',
  access: 'key',
  summary: 'Rename a model or dataset, as the hub does',
  body: z.object({
    fromRepo: z.string().min(1).max(400),
    toRepo: z.string().min(1).max(400),
    type: repositoryType.nullish(),
  }),
  error: hubError,
  response: z.object({ success: z.literal(true) }),
});

export const changeRepository = endpoint({
  method: 'PUT',
  path: '/hub/api/:type/:namespace/:name/settings',
  access: 'key',
  summary: 'Change the visibility of a model or dataset, as the hub does',
  params: repositoryParams,
  body: z.object({
    private: z.boolean().optional(),
    visibility,
    gated: z.union([z.literal(false), z.enum(['auto', 'manual'])]).optional(),
  }),
  error: hubError,
  response: z.object({ success: z.literal(true) }),
});
