import { call } from '../../lib/api/api-client.ts';
import { chargeText } from '../../lib/format/outcome-text.ts';
import { refetchQueries } from '../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { notify } from '../../ui/notify.ts';
import { useUser } from '../accounts/session.ts';
import { type Deployment, deploymentKinds, kindRow, workId } from './kinds.ts';

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
