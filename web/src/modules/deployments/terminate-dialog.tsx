import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import type { Deployment } from './kinds.ts';
import { useTerminate } from './use-terminate.ts';

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
