import { deploymentFilters } from '@bakehouse/contract/deployments/text';
import { oneOf, type SearchOf, searchSchema, text } from '../../../lib/url-search.ts';

/**
 * Filters and order of a deployment list; active ones, newest first, by default. `deploy`: model selected in the
 * open dialog.
 */
export const deploymentsSearch = searchSchema({
  search: text,
  status: oneOf(...deploymentFilters, 'all'),
  sort: oneOf('title'),
  deploy: text,
});
export type DeploymentsSearch = SearchOf<typeof deploymentsSearch>;

/** True if a filter hides active deployments. */
export function isNarrowed({ search, status = 'all' }: DeploymentsSearch): boolean {
  return search !== undefined || status !== 'all';
}
