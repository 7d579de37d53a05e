import { MessageSquare } from 'lucide-react';
import { ButtonLink } from '../../../ui/button.tsx';
import { DeployButton } from '../../deployments/deploy/deploy-button.tsx';
import { useDeploymentsOf, useLiveDeployment } from '../../deployments/use-deployments.ts';

/** The way to an answer: to the deployment that there is, or to a new one with its price. */
export function UseModel({ modelId, label = 'Deploy and chat' }: { modelId: string; label?: string }) {
  const { isPending } = useDeploymentsOf(modelId);
  const pod = useLiveDeployment(modelId);
  if (isPending) return null;
  if (!pod) return <DeployButton key={modelId} request={{ kind: 'text', modelId }} label={label} />;
  return (
    <ButtonLink variant="primary" to="/my-deployments/$podId" params={{ podId: pod.pod_id }}>
      <MessageSquare aria-hidden />
      Chat
    </ButtonLink>
  );
}
