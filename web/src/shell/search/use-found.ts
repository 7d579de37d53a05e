import { search } from '@bakehouse/contract/search';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { useDebounced } from '../../lib/use-debounced.ts';
import { nameFits } from '../palette/match-commands.ts';

type Options = {
  /** Skips the search without text; otherwise an empty text finds everything. */
  needsWords?: boolean;
};

/** Searches datasets and models on the server, debounced. */
export function useFound(typed: string, { needsWords = false }: Options = {}) {
  const words = useDebounced(typed);
  const { data, error, isFetching, isPlaceholderData } = useQuery({
    ...endpointQuery(['asset', 'search', words], search, { query: { query: words } }),
    // Keep the previous results visible while loading.
    placeholderData: keepPreviousData,
    enabled: !needsWords || words !== '',
  });
  const results = data?.results ?? [];
  // Enter opens the first result: of results for an earlier text, keep only those that match the current
  // text.
  const isOfOthers = words !== typed || isPlaceholderData;
  return {
    /** The searched text. */
    words,
    results: isOfOthers ? results.filter(({ name }) => nameFits(name, typed)) : results,
    /** There is no exact match; the results are similar names. */
    similar: !isOfOthers && data?.similar === true,
    /** Results for the current text are still loading. */
    searching: words !== typed || isFetching,
    error,
  };
}
