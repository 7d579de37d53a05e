import type { SharedThing } from '@bakehouse/contract/share-links';
import { formatDateTime } from '../../lib/format/format-time.ts';

/** What it is, who made it, and when. */
export function byline({ maker, created_at }: SharedThing, noun?: string): string {
  const at = formatDateTime(new Date(created_at));
  return [...(noun ? [noun] : []), ...(maker === null ? [] : [`By ${maker}`]), at].join(' · ');
}
