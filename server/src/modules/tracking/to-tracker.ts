import type { Tracker } from '@bakehouse/contract/trackers';
import type { TrackerRow } from './tracker-queries.ts';

/** A connected tracker as the wire has it: its key is not shown. Pure. */
export function toTracker({ service, project, url, account, connected_at, trouble }: TrackerRow): Tracker {
  return { service, project, url, account, connected_at: connected_at.toISOString(), trouble };
}
