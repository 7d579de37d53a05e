import type { listApiKeys as contract } from '@bakehouse/contract/api-keys';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { listAllKeys, listKeys } from './key-queries.ts';
import { toApiKey } from './to-api-key.ts';

/** Lists the caller's API keys, oldest first; revoked keys only if requested. */
export async function listApiKeys(
  ctx: Context,
  { include_revoked: withRevoked }: InputOf<typeof contract>['query'],
): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  const keys = await (withRevoked ? listAllKeys(ctx.db, userId) : listKeys(ctx.db, userId));
  return { api_keys: keys.map((key) => toApiKey(key, ctx.clock.now())) };
}
