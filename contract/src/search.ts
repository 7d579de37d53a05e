import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/** Maximum results of a search. */
export const SEARCH_RESULTS_MAX = 12;

export const searchResult = z.object({
  kind: z.enum(['dataset', 'model', 'restricted_model']),
  id: z.string(),
  name: z.string(),
  /** Model family, e.g. 'llama', 'qwen'; empty if unknown. */
  family: z.string(),
  tags: z.array(z.string()),
  /** Every user may use it. */
  is_starter: z.boolean(),
  /** Its owner. Null if the caller owns it, or if it is a starter. */
  owner_username: z.string().nullable(),
});

export type SearchResult = z.infer<typeof searchResult>;

export const searchResults = z.object({
  results: z.array(searchResult),
  /** True if nothing contains the words, and the results are only similar. */
  similar: z.boolean(),
});

export type SearchResults = z.infer<typeof searchResults>;

export const search = endpoint({
  method: 'GET',
  path: '/api/v1/search',
  access: 'key',
  summary: 'Search datasets and models by name, id, family or tag: at most 12 results',
  query: z.object({
    /** Part of a field, or several words that must all occur. Case-insensitive. Empty returns the newest. */
    query: z.string().trim().max(200, 'Search for at most 200 characters').default(''),
  }),
  response: searchResults,
});
