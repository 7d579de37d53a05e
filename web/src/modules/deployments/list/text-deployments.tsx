import { useUrlSearch } from '../../../lib/url-search.ts';
import { FilterBar } from '../../../ui/resource/filter-bar.tsx';
import { useUser } from '../../accounts/session.ts';
import { useDeploymentStats, useDeployments } from '../use-deployments.ts';
import { DeploymentStats } from './deployment-stats.tsx';
import { DeploymentTable, deploymentFilterFields } from './deployment-table.tsx';
import { type DeploymentsSearch, isNarrowed } from './deployments-search.ts';

/** The list of text deployments, with figures and filters once the user has had one. */
export function TextDeployments({ onDeploy }: { onDeploy: () => void }) {
  const [shown] = useUrlSearch<DeploymentsSearch>();
  const stats = useDeploymentStats(useUser().id);
  return (
    <>
      {stats.data && stats.data.total > 0 && <DeploymentStats stats={stats.data} />}
      {(stats.data?.total !== 0 || shown.search || shown.status) && (
        <FilterBar filters={deploymentFilterFields} />
      )}
      <DeploymentTable
        family="text"
        deployments={useDeployments('text', shown)}
        isNarrowed={isNarrowed(shown)}
        onDeploy={onDeploy}
      />
    </>
  );
}
