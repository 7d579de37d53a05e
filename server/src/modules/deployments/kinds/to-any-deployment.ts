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
  const { pod_id, model_id, model_name, title, reason, created_at, terminated_at } = view;
  const kind = own === 'embedding' ? 'text' : own;
  const status = deploymentKinds.text.states[state];
  return { pod_id, kind, model_id, model_name, title, status, reason, created_at, terminated_at };
}
