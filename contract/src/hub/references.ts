import * as z from 'zod';
import { CARD_BYTES_MAX } from '../asset-commits.ts';
import { endpoint } from '../endpoint.ts';
import { hubError, repositoryParams, revisionParam, revisionParams } from './shared.ts';

const tagName = z.string().min(1).max(200);

export const createRepositoryTag = endpoint({
  method: 'POST',
  path: '/hub/api/:type/:namespace/:name/tag/:revision',
  access: 'key',
  summary: 'Tag a revision, as the hub does',
  params: revisionParams,
  body: z.object({ tag: tagName, message: z.string().max(2000).default('') }),
  error: hubError,
  response: z.object({ success: z.literal(true) }),
});

export const deleteRepositoryTag = endpoint({
  method: 'DELETE',
  path: '/hub/api/:type/:namespace/:name/tag/:revision',
  access: 'key',
  summary: 'Delete a tag, as the hub does',
  params: repositoryParams.extend({ revision: revisionParam }),
  error: hubError,
  response: z.object({ success: z.literal(true) }),
});

/** Validates a card's metadata before a client commits it. */
export const validateCard = endpoint({
  method: 'POST',
  path: '/hub/api/validate-yaml',
  // Public, because huggingface_hub sends no token with this call.
  access: 'public',
  summary: 'Check the metadata of a card, as the hub does',
  bodyBytesMax: CARD_BYTES_MAX + 256 * 1024,
  body: z.object({ content: z.string(), repoType: z.string().max(50).optional() }),
  error: hubError,
  response: z.object({
    errors: z.array(z.object({ message: z.string() })),
    warnings: z.array(z.object({ message: z.string() })),
  }),
});

const branchParams = repositoryParams.extend({ branch: revisionParam });

export const createBranch = endpoint({
  method: 'POST',
  path: '/hub/api/:type/:namespace/:name/branch/:branch',
  access: 'key',
  summary: 'Create a branch, as the hub does',
  params: branchParams,
  body: z
    .object({
      /** The revision of main to start from. Defaults to the newest. */
      startingPoint: revisionParam.nullish(),
    })
    .nullish(),
  error: hubError,
  status: 204,
});

export const deleteBranch = endpoint({
  method: 'DELETE',
  path: '/hub/api/:type/:namespace/:name/branch/:branch',
  access: 'key',
  summary: 'Delete a branch with its commits, as the hub does',
  params: branchParams,
  error: hubError,
  status: 204,
});

/* Features of the hub that this server does not have. Calls are rejected with a helpful message. */

export const listDiscussions = endpoint({
  method: 'GET',
  path: '/hub/api/:type/:namespace/:name/discussions',
  access: 'key',
  summary: 'List discussions, as the hub does: always empty',
  params: repositoryParams,
  error: hubError,
  response: z.object({ discussions: z.array(z.never()), count: z.literal(0), start: z.literal(0) }),
});

export const createDiscussion = endpoint({
  method: 'POST',
  path: '/hub/api/:type/:namespace/:name/discussions',
  access: 'key',
  summary: 'Reject a discussion or pull request, which this server does not support',
  params: repositoryParams,
  error: hubError,
  status: 204,
});
