import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';

/** Maximum users with whom one dataset or model can be shared. */
export const SHARES_MAX = 100;

const assetIdParams = z.object({ id: idOf('dataset or model') });

/** Accepts only usernames, so that callers cannot find out who owns an email address. */
const username = z
  .string('Enter a username')
  .trim()
  .toLowerCase()
  .min(1, 'Enter a username')
  .refine((text) => !text.includes('@'), 'Enter a username, not an email address')
  .refine((text) => text.length <= 60, 'A username has at most 60 characters');

export const assetShares = z.object({
  shares: z.array(z.object({ username: z.string(), shared_at: z.string() })),
});

export type Shares = z.infer<typeof assetShares>;

export const listShares = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/shares',
  access: 'key',
  operation: 'load who this is shared with',
  summary: 'List the users with whom you share a dataset or model, by username',
  params: assetIdParams,
  response: assetShares,
});

export const shareAsset = endpoint({
  method: 'POST',
  path: '/api/v1/asset/:id/shares',
  access: 'key',
  operation: 'share it',
  summary: 'Share a dataset or model with a user, who may read and use it, not change it',
  params: assetIdParams,
  body: z.object({ username }),
  response: assetShares,
});

export const unshareAsset = endpoint({
  method: 'DELETE',
  path: '/api/v1/asset/:id/shares/:username',
  access: 'key',
  operation: 'stop sharing it',
  summary: 'Stop sharing a dataset or model with a user; your own username removes it from your shared items',
  params: assetIdParams.extend({ username }),
  status: 204,
});
