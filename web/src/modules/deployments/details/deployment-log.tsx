import { Card } from '../../../ui/card.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { LogView } from '../../../ui/log-view.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { useDeploymentLogs } from '../use-deployments.ts';

/** The end of the model server's log. */
export function DeploymentLog({ podId }: { podId: string }) {
  return (
    <QueryView
      query={useDeploymentLogs(podId)}
      failed="The log could not be loaded"
      pending={
        <LoadingRegion>
          <Skeleton className="h-80 w-full rounded-xl" />
        </LoadingRegion>
      }
      isEmpty={({ lines }) => lines.length === 0}
      empty={
        <Card>
          <EmptyState title="No lines yet" description="The model server has not logged anything." />
        </Card>
      }
    >
      {({ lines }) => <LogView lines={lines} />}
    </QueryView>
  );
}
