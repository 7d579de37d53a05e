import type { Deployment, vllmProgress, vllmStats } from '@bakehouse/contract/deployments/text';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
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
