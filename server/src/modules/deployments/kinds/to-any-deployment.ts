import type { listDeployments } from '@bakehouse/contract/deployments/all';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { DeploymentView } from '../read-deployment.ts';
import { deploymentKinds } from './kinds.ts';

/**
 * Returns a deployment of any kind in the format of the combined list, which uses the state names of text
 * deployments.
 */
export function toAnyDeployment({
  kind: own,
  state,
  ...view
}: DeploymentView): ResponseOf<typeof listDeployments>['deployments'][number] {
  const { pod_id, model_id, model_name, title, reason, stop_reason, progress } = view;
  const { created_at, ready_at, terminated_at, cost_so_far } = view;
  return {
    ...{ pod_id, model_id, model_name, title, reason, stop_reason, progress },
    ...{ created_at, ready_at, terminated_at, cost_so_far },
    kind: own === 'embedding' ? 'text' : own,
    status: deploymentKinds.text.states[state],
  };
}
