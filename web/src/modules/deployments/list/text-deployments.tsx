import { FilterBar } from '../../../ui/resource/filter-bar.tsx';
import { useUser } from '../../accounts/session.ts';
import { useDeploymentStats, useDeployments } from '../use-deployments.ts';
import { DeploymentStats } from './deployment-stats.tsx';
import { DeploymentTable, deploymentFilterFields } from './deployment-table.tsx';
import { type DeploymentsSearch, isNarrowed } from './deployments-search.ts';

type Props = {
  shown: DeploymentsSearch;
  onDeploy: () => void;
  /** Renders as a column next to other content. */
  narrow: boolean;
};

/** The list of text deployments, with figures and filters once the user has had one. */
export function TextDeployments({ shown, onDeploy, narrow }: Props) {
  const deployments = useDeployments('text', shown);
  const stats = useDeploymentStats(useUser().id);
  return (
    <div className="min-w-0">
      {stats.data && stats.data.total > 0 && <DeploymentStats stats={stats.data} narrow={narrow} />}
      {(stats.data?.total !== 0 || shown.search || shown.status) && (
        <FilterBar filters={deploymentFilterFields} />
      )}
      <DeploymentTable
        family="text"
        deployments={deployments}
        isNarrowed={isNarrowed(shown)}
        onDeploy={onDeploy}
        narrow={narrow}
      />
    </div>
  );
}
