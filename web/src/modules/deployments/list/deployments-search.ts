import { type DeploymentFilter, deploymentFilters } from '@bakehouse/contract/deployments/text';

/**
 * What a list of deployments is narrowed to, and its order (the newest first unless by title), as they stand in the address.
 * `deploy`: the model that is chosen in the dialog, which is open then. `chat`: the model that is talked with, a deployment's id or
 * a starter model's name; `conversation`: the one with it; `beside`: the model that it is compared with.
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

/** The conversation that an address names; what is no id names none. */
export function parseConversation({ conversation }: Record<string, unknown>): { conversation?: string } {
  return typeof conversation === 'string' && UUID.test(conversation) ? { conversation } : {};
}

/** Those that are texts and not empty. */
function filled<Name extends string>(values: Record<Name, unknown>): { [name in Name]?: string } {
  const texts = Object.entries(values).filter(([, value]) => typeof value === 'string' && value !== '');
  return Object.fromEntries(texts) as { [name in Name]?: string };
}

/** Whether it hides some that are there: without ended ones all is shown that is of use. */
export function isNarrowed({ search, status }: DeploymentsSearch): boolean {
  return search !== undefined || status !== undefined;
}
