import type { listApiKeys as contract } from '@bakehouse/contract/api-keys';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { listKeys } from './key-queries.ts';
import { toApiKey } from './to-api-key.ts';

/** The caller's API keys that were not revoked, oldest first. */
export async function listApiKeys(ctx: Context): Promise<ResponseOf<typeof contract>> {
  const keys = await listKeys(ctx.db, ctx.caller.userId);
  return { api_keys: keys.map((key) => toApiKey(key, ctx.clock.now())) };
}
