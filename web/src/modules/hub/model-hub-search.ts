import type { RepoType } from '@bakehouse/contract/hub/public';

/** What the URL of the page says. */
export type ModelHubSearch = {
  tab?: 'clones';
  type?: RepoType;
  query?: string;
  /** The repository whose details are open. */
  repo?: string;
};

/** Search parameters of the page; what it does not know is left out. */
export function parseModelHub({ tab, type, query, repo }: Record<string, unknown>): ModelHubSearch {
  return {
    ...(tab === 'clones' && { tab }),
    ...(type === 'dataset' && { type }),
    // A number that was searched for is read as one.
    ...((typeof query === 'string' || typeof query === 'number') && { query: String(query) }),
    ...(typeof repo === 'string' && { repo }),
  };
}
