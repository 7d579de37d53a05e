import { type DeploymentFilter, deploymentFilters } from '@bakehouse/contract/deployments/text';

/**
 * What a list of deployments is narrowed to, and its order (the newest first unless by title), as they stand in the address.
 * `deploy`: the model that is chosen in the dialog, which is open then.
 */
export type DeploymentsSearch = {
  search?: string;
  status?: DeploymentFilter;
  ended?: boolean;
  sort?: 'title';
  deploy?: string;
};

export function parseDeployments({
  search,
  status,
  ended,
  sort,
  deploy,
}: Record<string, unknown>): DeploymentsSearch {
  const known = deploymentFilters.find((one) => one === status);
  return {
    ...(typeof search === 'string' && search !== '' && { search }),
    ...(known && { status: known }),
    ...(ended === true && { ended }),
    ...(sort === 'title' && { sort }),
    ...(typeof deploy === 'string' && deploy !== '' && { deploy }),
  };
}

/** Whether it hides some that are there: without ended ones all is shown that is of use. */
export function isNarrowed({ search, status }: DeploymentsSearch): boolean {
  return search !== undefined || status !== undefined;
}
