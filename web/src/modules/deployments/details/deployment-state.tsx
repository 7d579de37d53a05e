import { ButtonLink } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { type Deployment, isPending, statusWord } from '../kinds.ts';

type Props = {
  deployment: Pick<Deployment, 'status' | 'reason' | 'stop_reason' | 'progress' | 'cost_so_far'>;
};

/** Explains why a deployment is not running, and its progress. */
export function DeploymentState({ deployment }: Props) {
  const { status, reason, stop_reason, progress, cost_so_far } = deployment;
  if (isPending(deployment)) {
    return (
      <Card className="mb-6">
        <Progress value={progress} label={reason || 'Starting'} />
      </Card>
    );
  }
  if (!reason || status === 'running') return null;
  return (
    <Callout
      tone={statusWord(status) === 'failed' ? 'bad' : stop_reason === null ? 'info' : 'warn'}
      className="mb-6"
      action={
        stop_reason === 'credits' && (
          <ButtonLink to="/buy-bagels" size="sm">
            Get credits
          </ButtonLink>
        )
      }
    >
      {reason}
      {statusWord(status) === 'failed' && Number(cost_so_far) === 0 && ' You were not charged.'}
    </Callout>
  );
}
