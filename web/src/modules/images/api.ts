import type { Generation } from '@bakehouse/contract/generations';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { loadable } from '../../lib/loadable.tsx';
import { POLL_MS, recentGenerationsQuery } from './generation-queries.ts';

export type { Brought } from './actions/remix.ts';
export { useQuote, useStartGeneration } from './generation-calls.ts';
export { recentGenerationsQuery } from './generation-queries.ts';
export { isUnderWay, ONE_AT_A_TIME } from './generation-sentences.ts';
export type { Shown } from './generator-results.tsx';
export { Price } from './view/price.tsx';

/** What a generator has made, on its page; it is loaded where there can be something. */
export const GeneratorResults = loadable(
  async () => (await import('./generator-results.tsx')).GeneratorResults,
);
/** The last pictures of one generator. */
export const PictureHistory = loadable(
  async () => (await import('./gallery/picture-history.tsx')).PictureHistory,
);
/** The last pictures of all. */
export const RecentGenerations = loadable(
  async () => (await import('./gallery/recent-generations.tsx')).RecentGenerations,
);

/** All generations that are under way, and what has lately ended; none while they are not read, and for a visitor. */
export function useRecentGenerations(userId: string | undefined): Generation[] {
  const { data } = useInfiniteQuery({
    ...recentGenerationsQuery(userId ?? ''),
    enabled: userId !== undefined,
    refetchInterval: useFallbackInterval(POLL_MS),
  });
  return data?.pages.flatMap((page) => page.generations) ?? [];
}
