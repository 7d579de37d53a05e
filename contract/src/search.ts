import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/** Results of one search at most. */
export const SEARCH_RESULTS_MAX = 12;

const searchResult = z.object({
  kind: z.enum(['dataset', 'model', 'restricted_model']),
  id: z.string(),
  name: z.string(),
  /** What kind of model it is: 'llama', 'qwen'; empty where nobody said. */
  family: z.string(),
  tags: z.array(z.string()),
  /** Everybody may use it. */
  is_starter: z.boolean(),
  /** Whose it is, where it is neither the caller's nor everybody's. */
  owner_username: z.string().nullable(),
});

export type SearchResult = z.infer<typeof searchResult>;

const searchResults = z.object({
  results: z.array(searchResult),
  /** Nothing has the words in it: these are only alike. */
  similar: z.boolean(),
});

export type SearchResults = z.infer<typeof searchResults>;

export const search = endpoint({
  method: 'GET',
  path: '/api/v1/search',
  access: 'key',
  summary: 'Search datasets and models by name, id, family or tag: at most 12 results',
  query: z.object({
    /** Part of one of them, or several words that each are; letter case aside. Empty: the newest. */
    query: z.string().trim().max(200, 'Search for at most 200 characters').default(''),
  }),
  response: searchResults,
});
