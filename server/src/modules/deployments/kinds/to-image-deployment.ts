import type { ImageDeployment } from '@bakehouse/contract/deployments/images';
import type { Config } from '../../../config.ts';
import type { DeploymentView } from '../read-deployment.ts';
import { deploymentKinds } from './kinds.ts';

/** Returns an image deployment for the API. */
export function toImageDeployment(
  { publicUrl }: Pick<Config, 'publicUrl'>,
  view: DeploymentView,
): ImageDeployment {
  const {
    kind,
    state,
    phase: _phase,
    base_model_title: _base,
    replicas: _replicas,
    context_tokens: _context,
    ...shown
  } = view;
  if (kind === 'text' || kind === 'embedding')
    throw new Error(`Deployment ${view.pod_id} is not an image deployment`);
  const status = deploymentKinds[kind].states[state];
  const isOver = state === 'stopping' || state === 'terminated' || state === 'failed';
  const url = isOver ? null : new URL(`/v1/deployments/${view.pod_id}`, publicUrl).href;
  return {
    ...shown,
    kind,
    status,
    pod_status: { status },
    current_status: { status },
    inference_url: url,
    endpoint_url: isOver ? null : new URL('/v1', publicUrl).href,
    deployment_details: { base_url: url, gpu_count: view.device === 'CPU' ? 0 : 1 },
    ...(kind === 'wan' && { runpod_id: view.pod_id }),
  };
}
