import { deploymentFilters } from '@bakehouse/contract/deployments/text';
import { oneOf, type SearchOf, searchSchema, text, uuid } from '../../../lib/url-search.ts';

/**
 * Filters and order of a deployment list; active ones, newest first, by default. `deploy`: model selected in the
 * open dialog. `chat`: model in the chat (deployment id or starter model name). `conversation`: open
 * conversation. `beside`: model to compare with.
 */
export const deploymentsSearch = searchSchema({
  search: text,
  status: oneOf(...deploymentFilters, 'all'),
  sort: oneOf('title'),
  deploy: text,
  chat: text,
  conversation: uuid,
  beside: text,
});
export type DeploymentsSearch = SearchOf<typeof deploymentsSearch>;

/** True if a filter hides active deployments. */
export function isNarrowed({ search, status = 'all' }: DeploymentsSearch): boolean {
  return search !== undefined || status !== 'all';
}
