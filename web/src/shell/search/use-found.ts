import { search } from '@bakehouse/contract/search';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { useDebounced } from '../../lib/use-debounced.ts';
import { nameFits } from '../palette/match-commands.ts';

type Options = {
  /** Without words nothing is looked for; otherwise everything is found. */
  needsWords?: boolean;
};

/** The datasets and models that the server finds for the words, once they have stood for a moment. */
export function useFound(typed: string, { needsWords = false }: Options = {}) {
  const words = useDebounced(typed);
  const { data, error, isFetching, isPlaceholderData } = useQuery({
    ...endpointQuery(['asset', 'search', words], search, { query: { query: words } }),
    // What was found before stays in sight meanwhile.
    placeholderData: keepPreviousData,
    enabled: !needsWords || words !== '',
  });
  const results = data?.results ?? [];
  // Enter runs the first one: of what was found for other words, only what fits these stays.
  const isOfOthers = words !== typed || isPlaceholderData;
  return {
    /** What was looked for. */
    words,
    results: isOfOthers ? results.filter(({ name }) => nameFits(name, typed)) : results,
    /** Nothing has the words in it. */
    similar: !isOfOthers && data?.similar === true,
    /** The answer for what is typed now is still to come. */
    searching: words !== typed || isFetching,
    error,
  };
}
