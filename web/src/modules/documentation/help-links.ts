import { getDocumentation } from '@bakehouse/contract/documentation';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';

const documentationQuery = queryOptions({
  queryKey: ['documentation'],
  queryFn: ({ signal }) => call(getDocumentation, {}, { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

export type HelpLinks = {
  /** Null where it is the product's own, under `/docs`. */
  documentation: string | null;
  github: string | null;
};

/** Where the documentation and the source code are. Until that is known, the documentation is our own. */
export function useHelpLinks(): HelpLinks {
  const { data } = useQuery(documentationQuery);
  return {
    documentation: !data || data.built_in ? null : data.documentation_url,
    github: data?.github_url ?? null,
  };
}
