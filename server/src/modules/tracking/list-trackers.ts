import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { listTrackers as endpoint } from '@bakehouse/contract/trackers';
import type { Context } from '../../platform/context.ts';
import { toTracker } from './to-tracker.ts';
import { selectTrackers } from './tracker-queries.ts';

/** The trackers that the caller has connected. */
export async function listTrackers({ db, caller }: Context): Promise<ResponseOf<typeof endpoint>> {
  return { trackers: (await selectTrackers(db, caller.userId)).map(toTracker) };
}
