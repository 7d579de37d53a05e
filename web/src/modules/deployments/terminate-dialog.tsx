import type { Deployment } from '@bakehouse/contract/deployments/text';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { useTerminate } from './api.ts';
import type { KindName } from './kinds.ts';

type Props = {
  kind: KindName;
  pod: Pick<Deployment, 'pod_id' | 'title' | 'model_name'>;
  open: boolean;
  onClose: () => void;
};

/** Asks before a deployment is terminated. */
export function TerminateDialog({ kind, pod, open, onClose }: Props) {
  const termination = useTerminate(kind);
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={(next) => !next && onClose()}
      title={`Terminate ${pod.title}?`}
      description={`${pod.model_name} stops answering immediately, and you pay for the time used so far. The model itself stays.`}
      action="Terminate"
      pending={termination.isPending}
      onConfirm={() => termination.mutate(pod.pod_id, { onSettled: onClose })}
    />
  );
}
