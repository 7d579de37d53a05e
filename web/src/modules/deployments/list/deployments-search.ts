import { type DeploymentFilter, deploymentFilters } from '@bakehouse/contract/deployments/text';

/**
 * Filters and order of a deployment list, as in the URL; newest first by default. `deploy`: model selected in
 * the open dialog. `chat`: model in the chat (deployment id or starter model name). `conversation`: open
 * conversation. `beside`: model to compare with.
 */
export type DeploymentsSearch = {
  search?: string;
  status?: DeploymentFilter;
  ended?: boolean;
  sort?: 'title';
  deploy?: string;
  chat?: string;
  conversation?: string;
  beside?: string;
};

export function parseDeployments({
  search,
  status,
  ended,
  sort,
  deploy,
  chat,
  conversation,
  beside,
}: Record<string, unknown>): DeploymentsSearch {
  const known = deploymentFilters.find((one) => one === status);
  return {
    ...filled({ search, deploy, chat, beside }),
    ...parseConversation({ conversation }),
    ...(known && { status: known }),
    ...(ended === true && { ended }),
    ...(sort === 'title' && { sort }),
  };
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Returns the conversation in the URL; ignores invalid ids. */
export function parseConversation({ conversation }: Record<string, unknown>): { conversation?: string } {
  return typeof conversation === 'string' && UUID.test(conversation) ? { conversation } : {};
}

/** Returns the values that are non-empty strings. */
function filled<Name extends string>(values: Record<Name, unknown>): { [name in Name]?: string } {
  const texts = Object.entries(values).filter(([, value]) => typeof value === 'string' && value !== '');
  return Object.fromEntries(texts) as { [name in Name]?: string };
}

/** True if a filter hides active deployments. */
export function isNarrowed({ search, status }: DeploymentsSearch): boolean {
  return search !== undefined || status !== undefined;
}
