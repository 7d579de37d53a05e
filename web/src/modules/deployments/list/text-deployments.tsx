import { useInitialQueries } from '../../../lib/use-initial-queries.ts';
import { Card } from '../../../ui/card.tsx';
import { ListSkeleton } from '../../../ui/list-skeleton.tsx';
import { useUser } from '../../accounts/session.ts';
import { useDeploymentStats, useDeployments } from '../use-deployments.ts';
import { DeploymentFilters } from './deployment-filters.tsx';
import { DeploymentStats } from './deployment-stats.tsx';
import { DeploymentTable } from './deployment-table.tsx';
import { type DeploymentsSearch, isNarrowed } from './deployments-search.ts';

type Props = {
  shown: DeploymentsSearch;
  onChange: (search: DeploymentsSearch) => void;
  onDeploy: () => void;
  /** Renders as a column next to other content. */
  narrow: boolean;
};

/** The list of text deployments, with figures and filters once the user has had one. */
export function TextDeployments({ shown, onChange, onDeploy, narrow }: Props) {
  const deployments = useDeployments('text', shown);
  const stats = useDeploymentStats(useUser().id);
  if (!useInitialQueries(deployments, stats)) {
    return (
      <Card flush>
        <ListSkeleton rowHeight={60} />
      </Card>
    );
  }
  const narrowed = isNarrowed(shown);
  return (
    <div className="min-w-0">
      {stats.data && stats.data.total > 0 && <DeploymentStats stats={stats.data} narrow={narrow} />}
      {(stats.data?.total !== 0 || narrowed || shown.ended) && (
        <DeploymentFilters shown={shown} onChange={onChange} narrow={narrow} />
      )}
      <DeploymentTable
        family="text"
        deployments={deployments}
        isNarrowed={narrowed}
        onDeploy={onDeploy}
        narrow={narrow}
      />
    </div>
  );
}
