import type { ImageDeployment } from '@bakehouse/contract/deployments/images';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useTerminateImage } from './calls.ts';

type Props = { deployment: ImageDeployment; onClose: () => void };

/** Asks before a deployment of an image model is terminated. */
export function TerminateImageDialog({ deployment, onClose }: Props) {
  const termination = useTerminateImage();
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
