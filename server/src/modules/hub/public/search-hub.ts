import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { type searchHub as endpoint, HUB_RESULTS_MAX } from '@bakehouse/contract/hub/public';
import type { Context } from '../../../platform/context.ts';
import { hubClient } from './hub-client.ts';
import { findHubAccess } from './tokens.ts';

/** Returns a page of models or datasets found on the public hub. Throws AppError 'unavailable'. */
export async function searchHub(
  ctx: Context,
  { query, search_type: type, page, top_k: size }: InputOf<typeof endpoint>['query'],
  signal: AbortSignal,
): Promise<ResponseOf<typeof endpoint>> {
  const start = (page - 1) * size;
  const end = Math.min(start + size, HUB_RESULTS_MAX);
  if (start >= end) return { results: [], total_results: HUB_RESULTS_MAX };
  const hub = hubClient(await findHubAccess(ctx, ctx.caller.userId), signal);
  // Requests one more to tell whether there is another page.
  const found = await hub.search(type, query, Math.min(end + 1, HUB_RESULTS_MAX));
  return { results: found.slice(start, end), total_results: found.length };
}
