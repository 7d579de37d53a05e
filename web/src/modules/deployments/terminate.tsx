import { call } from '../../lib/api/api-client.ts';
import { chargeText } from '../../lib/format/words.ts';
import { refetchQueries } from '../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { notify } from '../../ui/notify.ts';
import { useUser } from '../accounts/session.ts';
import { type Deployment, deploymentKinds, kindRow, workId } from './kinds.ts';

type Props = {
  deployment: Pick<Deployment, 'kind' | 'pod_id' | 'title' | 'model_name'>;
  onClose: () => void;
};

/** Confirms that a deployment is terminated. */
export function TerminateDialog({ deployment, onClose }: Props) {
  const termination = useTerminate();
  return (
    <ConfirmDialog
      open
      onOpenChange={(next) => !next && onClose()}
      title={`Terminate ${deployment.title}?`}
      description={`${deployment.model_name} stops immediately, and you pay for the time used so far. The model itself stays.`}
      action="Terminate"
      pending={termination.isPending}
      onConfirm={() => termination.mutate(deployment, { onSettled: onClose })}
    />
  );
}

/** Terminates a deployment of any kind. */
export function useTerminate() {
  const user = useUser();
  return useMutation({
    mutationFn: ({ kind, pod_id }: Pick<Deployment, 'kind' | 'pod_id'>) =>
      call(
        deploymentKinds[kind].calls.terminate,
        { params: { podId: pod_id }, query: { user_id: user.id } },
        { operation: kindRow(kind).words?.operations.terminate ?? 'terminate deployment', timeoutMs: 30_000 },
      ),
    onSuccess: ({ pod_id, title, cost_so_far }, { kind }) => {
      // Shares the long work's toast id: if the deployment was still starting, both would announce its end.
      notify.success(kindRow(kind).terminated(title), {
        id: workId(pod_id),
        description: chargeText(cost_so_far),
      });
      refetchQueries(['deployment']);
    },
    meta: { prefix: 'Termination failed: ' },
  });
}
