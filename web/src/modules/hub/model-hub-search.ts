import type { RepoType } from '@bakehouse/contract/hub/public';

/** State of the page in its URL. */
export type ModelHubSearch = {
  tab?: 'clones';
  type?: RepoType;
  query?: string;
  /** The repository whose details are open. */
  repo?: string;
};

/** Parses the page's search parameters; ignores unknown values. */
export function parseModelHub({ tab, type, query, repo }: Record<string, unknown>): ModelHubSearch {
  return {
    ...(tab === 'clones' && { tab }),
    ...(type === 'dataset' && { type }),
    // The router parses digits as a number.
    ...((typeof query === 'string' || typeof query === 'number') && { query: String(query) }),
    ...(typeof repo === 'string' && { repo }),
  };
}
