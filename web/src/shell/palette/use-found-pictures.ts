import type { Generation } from '@bakehouse/contract/generations';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useUser } from '../../modules/accounts/session.ts';
import { generationsQuery, recentGenerationsQuery } from '../../modules/gallery/generation-queries.ts';
import { nameFits } from './match-commands.ts';

/** Returns pictures and videos whose prompts match the `settled` text, or the newest if it is empty. */
export function useFoundPictures(typed: string, settled: string) {
  const { id } = useUser();
  const newest = useInfiniteQuery(recentGenerationsQuery(id));
  const found = useInfiniteQuery({
    ...generationsQuery(id, { search: settled }),
    enabled: settled !== '',
    // Keep the previous results visible while loading.
    placeholderData: keepPreviousData,
  });
  const all = (typed === '' ? newest : found).data?.pages[0]?.generations ?? [];
  const isOfOthers = typed !== '' && (settled !== typed || found.isPlaceholderData);
  return {
    pictures: isOfOthers ? all.filter(({ prompt }: Generation) => nameFits(prompt, typed)) : all,
    searching: typed !== '' && (settled !== typed || found.isFetching),
    error: found.error,
  };
}
