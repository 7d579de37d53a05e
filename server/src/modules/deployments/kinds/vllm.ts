import type { ImageDeployment } from '@bakehouse/contract/deployments/images';
import type { Deployment, vllmProgress, vllmStats } from '@bakehouse/contract/deployments/text';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Config } from '../../../config.ts';
import type { DeploymentView } from '../read-deployment.ts';
import type { DeploymentSums } from '../sum-deployments.ts';
import type { DeploymentState } from './deployment-state.ts';
import { deploymentKinds, textKindOf } from './kinds.ts';

const words = deploymentKinds.text.states;

const jobStatus: Record<DeploymentState, Deployment['job_status']> = {
  queued: 'Pending',
  deploying: 'Pending',
  running: 'Running',
  sleeping: 'Running',
  degraded: 'Running',
  stopping: null,
  terminated: null,
  failed: null,
};

/** Returns a text deployment for the API. */
export function toVllm({ state, kind, phase: _phase, ...view }: DeploymentView): Deployment {
  return { ...view, task: textKindOf(kind), status: words[state], job_status: jobStatus[state] };
}

/** Returns a deployment's progress for the API. */
export function toVllmProgress(view: DeploymentView): ResponseOf<typeof vllmProgress> {
  const { pod_id, progress, phase, state } = view;
  return { pod_id, progress, phase, status: words[state] };
}

/** Returns the sums for the API. */
export function toVllmStats(sums: DeploymentSums): ResponseOf<typeof vllmStats> {
  return {
    total: Number(sums.total),
    running: sums.running,
    sleeping: sums.sleeping,
    deploying: sums.deploying,
    failed: Number(sums.failed),
    requests: Number(sums.requests),
    prompt_tokens: Number(sums.promptTokens),
    completion_tokens: Number(sums.completionTokens),
    cost: formatBgl(sums.costMicro),
  };
}

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
    vision: _vision,
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
