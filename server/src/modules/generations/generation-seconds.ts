import type { Generation } from '@bakehouse/contract/generations';

/** Returns the seconds from the first attempt to the end; null until it has ended. */
export function generationSeconds({
  started_at,
  ended_at,
}: Pick<Generation, 'started_at' | 'ended_at'>): number | null {
  return started_at && ended_at ? (Date.parse(ended_at) - Date.parse(started_at)) / 1000 : null;
}
