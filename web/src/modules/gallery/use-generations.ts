import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { EDIT_POLL_MS, type GenerationSearch, generationsQuery, POLL_MS } from './generation-queries.ts';

/**
 * Pages through the user's generations; reads nothing for visitors. Separate from generation-queries.ts,
 * because the dashboard must not load the table of generators.
 */
export function useGenerations(userId: string | undefined, wanted: GenerationSearch) {
  const edits = wanted.generator !== undefined && editsPictures(generators[wanted.generator]);
  return useInfiniteQuery({
    ...generationsQuery(userId ?? '', wanted),
    enabled: userId !== undefined,
    refetchInterval: useFallbackInterval(edits ? EDIT_POLL_MS : POLL_MS),
  });
}
