import type { SharedThing } from '@bakehouse/contract/share-links';
import { formatDateTime } from '../../lib/format/format-time.ts';

/** Who made it, and when. */
export function byline({ maker, created_at }: SharedThing): string {
  return [...(maker === null ? [] : [`By ${maker}`]), formatDateTime(new Date(created_at))].join(' · ');
}
