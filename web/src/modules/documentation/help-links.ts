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
  /** Null for the product's own documentation under `/docs`. */
  documentation: string | null;
  github: string | null;
};

/**
 * Returns the links to the documentation and the source code. Defaults to the product's documentation while
 * loading.
 */
export function useHelpLinks(): HelpLinks {
  const { data } = useQuery(documentationQuery);
  return {
    documentation: !data || data.built_in ? null : data.documentation_url,
    github: data?.github_url ?? null,
  };
}
