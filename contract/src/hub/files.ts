import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import {
  hubError,
  repeated,
  repositoryParams,
  revisionParam,
  revisionParams,
  treeEntry,
  yesOrNo,
} from './shared.ts';

const treeQuery = z.object({
  recursive: yesOrNo,
  /** Also returns the last commit of each file. */
  expand: yesOrNo,
  limit: z.coerce.number().int().min(1).max(1000).default(1000),
  cursor: z.string().max(4000).optional(),
});

export const listRepositoryFiles = endpoint({
  method: 'GET',
  path: '/hub/api/:type/:namespace/:name/tree/:revision',
  access: 'key',
  summary: 'List the files of a revision, as the hub does; the header Link has the next page',
  params: revisionParams,
  query: treeQuery,
  error: hubError,
  response: z.array(treeEntry),
});

export const listRepositoryFolder = endpoint({
  method: 'GET',
  path: '/hub/api/:type/:namespace/:name/tree/:revision/*',
  access: 'key',
  summary: 'List a folder of a revision, as the hub does; the header Link has the next page',
  params: revisionParams.extend({ '*': z.string().min(1) }),
  query: treeQuery,
  error: hubError,
  response: z.array(treeEntry),
});

export const pathsInfoBody = z.object({ paths: repeated, expand: yesOrNo });
/** Missing paths are omitted. */
export const describePaths = endpoint({
  method: 'POST',
  path: '/hub/api/:type/:namespace/:name/paths-info/:revision',
  access: 'key',
  scopes: ['read'],
  summary: 'Describe files and folders of a revision, as the hub does',
  params: revisionParams,
  bodyBytesMax: 2 * 1024 * 1024,
  isForm: true,
  body: pathsInfoBody.prefault({}),
  error: hubError,
  response: z.array(treeEntry),
});

export const hubReference = z.object({ name: z.string(), ref: z.string(), targetCommit: z.string() });
export const listRepositoryReferences = endpoint({
  method: 'GET',
  path: '/hub/api/:type/:namespace/:name/refs',
  access: 'key',
  summary: 'List the branch and the tags of a model or dataset, as the hub does',
  params: repositoryParams,
  error: hubError,
  response: z.object({
    branches: z.array(hubReference),
    converts: z.array(z.never()),
    tags: z.array(hubReference),
    pullRequests: z.array(z.never()),
  }),
});

export const listCommits = endpoint({
  method: 'GET',
  path: '/hub/api/:type/:namespace/:name/commits/:revision',
  access: 'key',
  summary: 'List commits, newest first, as the hub does; the header Link has the next page',
  params: revisionParams,
  query: z.object({
    /** Page number, from 0. */
    p: z.coerce.number().int().min(0).max(1_000_000).default(0),
    limit: z.coerce.number().int().min(1).max(100).default(50),
  }),
  error: hubError,
  response: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      message: z.string(),
      authors: z.array(z.object({ user: z.string() })),
      date: z.string(),
      parents: z.array(z.string()),
    }),
  ),
});

/** The download paths are not below `/hub/api`, because clients expect them elsewhere. */
const fileParams = z.object({
  namespace: z.string().min(1).max(200),
  name: z.string().min(1).max(200),
  revision: revisionParam,
  '*': z.string().min(1),
});

export const resolveModelFile = endpoint({
  method: 'GET',
  path: '/hub/:namespace/:name/resolve/:revision/*',
  access: 'key',
  summary: 'Download a file of a model, as from the hub; supports Range',
  answers: { '*/*': null },
  params: fileParams,
  error: hubError,
});

/** The same as `resolve`, because no file on this server is a pointer to another one. */
export const readModelFile = endpoint({
  method: 'GET',
  path: '/hub/:namespace/:name/raw/:revision/*',
  access: 'key',
  summary: 'Download a file of a model by its raw address, as from the hub',
  answers: { '*/*': null },
  params: fileParams,
  error: hubError,
});

export const readDatasetFile = endpoint({
  method: 'GET',
  path: '/hub/datasets/:namespace/:name/raw/:revision/*',
  access: 'key',
  summary: 'Download a file of a dataset by its raw address, as from the hub',
  answers: { '*/*': null },
  params: fileParams,
  error: hubError,
});

export const resolveDatasetFile = endpoint({
  method: 'GET',
  path: '/hub/datasets/:namespace/:name/resolve/:revision/*',
  access: 'key',
  summary: 'Download a file of a dataset, as from the hub; supports Range',
  answers: { '*/*': null },
  params: fileParams,
  error: hubError,
});
