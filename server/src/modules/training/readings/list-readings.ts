import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { listReadings as endpoint } from '@bakehouse/contract/training';
import type { Context } from '../../../platform/context.ts';
import { readingLimits } from './limits.ts';
import { selectReadings } from './queries.ts';
import { toReading } from './to-reading.ts';

/** Returns the caller's background readings: active and recently ended ones. */
export async function listReadings(ctx: Context): Promise<ResponseOf<typeof endpoint>> {
  const since = new Date(ctx.clock.now().getTime() - readingLimits.listedMs);
  const rows = await selectReadings(ctx.db, ctx.caller.userId, since);
  return { readings: rows.map(toReading) };
}
