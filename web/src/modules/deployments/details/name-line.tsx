import type { Deployment } from '@bakehouse/contract/deployments';
import { relativeTime } from '../../../lib/format/format-time.ts';

/** Under the title in a list: what tells a deployment from another one of the same model. */
export function NameLine({ deployment }: { deployment: Pick<Deployment, 'model_name' | 'created_at'> }) {
  return (
    <p className="text-muted text-xs">
      <span className="font-mono [overflow-wrap:anywhere]">{deployment.model_name}</span>
      {` · deployed ${relativeTime(new Date(deployment.created_at)).toLowerCase()}`}
    </p>
  );
}
