import { search } from '@bakehouse/contract/search';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';

/** What the server finds for the words; what was found before stays in sight meanwhile. */
export const searchQuery = (words: string) =>
  queryOptions({
    queryKey: ['asset', 'search', words],
    queryFn: ({ signal }) => call(search, { query: { query: words } }, { signal, operation: 'search' }),
    placeholderData: keepPreviousData,
  });
