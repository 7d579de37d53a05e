import { editsPictures } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { EDIT_POLL_MS, type GenerationSearch, generationsQuery, POLL_MS } from './generation-queries.ts';

/**
 * The user's generations page by page; nothing is read for a visitor. Apart from the queries, which the dashboard has: the
 * table of generators is none of its own.
 */
export function useGenerations(userId: string | undefined, wanted: GenerationSearch) {
  const edits = wanted.generator !== undefined && editsPictures(generators[wanted.generator]);
  return useInfiniteQuery({
    ...generationsQuery(userId ?? '', wanted),
    enabled: userId !== undefined,
    refetchInterval: useFallbackInterval(edits ? EDIT_POLL_MS : POLL_MS),
  });
}
