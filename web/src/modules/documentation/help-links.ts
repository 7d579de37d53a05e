import { getDocumentation } from '@bakehouse/contract/documentation';
import { useQuery } from '@tanstack/react-query';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';

const documentationQuery = endpointQuery(
  ['documentation'],
  getDocumentation,
  {},
  { staleTime: Number.POSITIVE_INFINITY },
);

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
