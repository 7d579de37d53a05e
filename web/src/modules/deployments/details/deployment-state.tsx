import type { Deployment } from '@bakehouse/contract/deployments';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { Progress } from '../../../ui/progress.tsx';

type Props = {
  /** Of any kind: its states are its own. */
  deployment: Pick<Deployment, 'reason' | 'progress' | 'cost_so_far'> & { status: string };
  isPending: boolean;
};

/** Why a deployment is not simply running, and how far it is. */
export function DeploymentState({ deployment: { status, reason, progress, cost_so_far }, isPending }: Props) {
  if (isPending) {
    return (
      <Card className="mb-6">
        <Progress value={progress} label={reason || 'Starting'} />
      </Card>
    );
  }
  if (!reason || status === 'running') return null;
  return (
    <Callout tone={status === 'failed' ? 'bad' : 'info'} className="mb-6">
      {reason}
      {status === 'failed' && Number(cost_so_far) === 0 && ' You were not charged.'}
    </Callout>
  );
}
