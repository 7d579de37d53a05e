import type { Deployment } from '@bakehouse/contract/deployments/text';
import { RelativeTime } from '../../../ui/relative-time.tsx';

/** Under the title in a list: what tells a deployment from another one of the same model. */
export function NameLine({ deployment }: { deployment: Pick<Deployment, 'model_name' | 'created_at'> }) {
  return (
    <p className="text-muted text-xs">
      <span className="font-mono [overflow-wrap:anywhere]">{deployment.model_name}</span>
      {' · deployed '}
      <RelativeTime at={deployment.created_at} inSentence />
    </p>
  );
}
