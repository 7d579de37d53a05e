import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { LogView } from '../../ui/log-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { useDeploymentLogs } from './api.ts';

/** The end of the model server's log. */
export function DeploymentLog({ podId }: { podId: string }) {
  const logs = useDeploymentLogs(podId);
  if (logs.isPending) {
    return (
      <LoadingRegion>
        <Skeleton className="h-80 w-full rounded-xl" />
      </LoadingRegion>
    );
  }
  if (!logs.data) {
    return (
      <ErrorState
        title="The log could not be loaded"
        error={logs.error}
        onRetry={() => void logs.refetch()}
      />
    );
  }
  if (logs.data.lines.length === 0) {
    return (
      <Card>
        <EmptyState title="No lines yet" description="The model server has not written anything." />
      </Card>
    );
  }
  return <LogView lines={logs.data.lines} />;
}
