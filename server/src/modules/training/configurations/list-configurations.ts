import type { listConfigurations as endpoint } from '@bakehouse/contract/configurations';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { selectConfigurations } from './configuration-queries.ts';

/** Returns the caller's saved configurations, newest first. */
export async function listConfigurations(ctx: Context): Promise<ResponseOf<typeof endpoint>> {
  return { configurations: await selectConfigurations(ctx.db, ctx.caller.userId) };
}
