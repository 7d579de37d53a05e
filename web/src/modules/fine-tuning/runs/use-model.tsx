import type { Run } from '@bakehouse/contract/runs';
import { MessageSquare } from 'lucide-react';
import { ButtonLink } from '../../../ui/button.tsx';
import { DeployButton } from '../../deployments/deploy/deploy-button.tsx';
import { useDeploymentsOf, useLiveDeployment } from '../../deployments/use-deployments.ts';

/** Opens the model's deployment, or deploys it at a price. */
export function UseModel({ run }: { run: Run }) {
  const { model_id: modelId } = run;
  const { isPending } = useDeploymentsOf(modelId);
  const pod = useLiveDeployment(modelId);
  if (isPending) return null;
  if (!pod) return <DeployButton key={modelId} request={{ kind: 'text', modelId }} label="Deploy and chat" />;
  return (
    <ButtonLink variant="primary" to="/my-deployments/$podId" params={{ podId: pod.pod_id }}>
      <MessageSquare aria-hidden />
      Chat
    </ButtonLink>
  );
}
