import type { Generation } from '@bakehouse/contract/generations';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { loadable } from '../../lib/loadable.tsx';
import {
  type GenerationSearch,
  generationsQuery,
  generationWorkQuery,
  POLL_MS,
  pollMsOf,
} from './generation-queries.ts';

export type { Brought } from './actions/remix.ts';
export type { Source } from './editing/source.ts';
export { useQuote, useStartGeneration } from './generation-calls.ts';
export { recentGenerationsQuery } from './generation-queries.ts';
export { isUnderWay, ONE_AT_A_TIME } from './generation-sentences.ts';
export type { ShownResult } from './generator-results.tsx';
export { Price } from './view/price.tsx';

/** What a generator has made, on its page; it is loaded where there can be something. */
export const GeneratorResults = loadable(
  async () => (await import('./generator-results.tsx')).GeneratorResults,
);
/** Where a picture is given that is to be edited; what sends it comes along. */
export const SourceField = loadable(async () => {
  const [field] = await Promise.all([
    import('./editing/source-field.tsx'),
    import('./editing/send-source.ts'),
  ]);
  return field.SourceField;
});
/** An edit until it is under way. */
export const EditStart = loadable(async () => (await import('./editing/edit-start.tsx')).EditStart);
/** The last pictures of one generator. */
export const PictureHistory = loadable(
  async () => (await import('./gallery/picture-history.tsx')).PictureHistory,
);
/** The last pictures of all. */
export const RecentGenerations = loadable(
  async () => (await import('./gallery/recent-generations.tsx')).RecentGenerations,
);

/** The user's generations page by page; nothing is read for a visitor. */
export function useGenerations(userId: string | undefined, wanted: GenerationSearch) {
  return useInfiniteQuery({
    ...generationsQuery(userId ?? '', wanted),
    enabled: userId !== undefined,
    refetchInterval: useFallbackInterval(pollMsOf(wanted.generator)),
  });
}

/** All that are under way, and what has lately ended; none while they are not read. */
export function useRecentGenerations(userId: string | undefined): Generation[] {
  const { data } = useInfiniteQuery({
    ...generationWorkQuery(userId ?? ''),
    enabled: userId !== undefined,
    refetchInterval: useFallbackInterval(POLL_MS),
  });
  return data?.pages.flatMap((page) => page.generations) ?? [];
}
