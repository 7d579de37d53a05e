import type { Deployment } from '@bakehouse/contract/deployments';
import { placeTextModel } from '../placement/place-text-model.ts';
import type { DeploymentKind } from './deployment-kind.ts';
import { textSpec } from './text-spec.ts';

/**
 * Every kind of deployment. Another one is a row here, its calls in the contract with their bindings
 * in routes.ts, and what its row names.
 */
export const deploymentKinds = {
  /** Text models behind the OpenAI-style calls. The wire calls them vllm, whichever engine serves them. */
  text: {
    place: placeTextModel,
    spec: textSpec,
    hourPrice: { CPU: 'text_serving:CPU', GPU: 'text_serving:GPU' },
    states: {
      queued: 'queued',
      deploying: 'deploying',
      running: 'running',
      sleeping: 'sleeping',
      degraded: 'degraded',
      stopping: 'stopping',
      terminated: 'terminated',
      failed: 'failed',
    } satisfies Record<string, Deployment['status']>,
  },
} as const satisfies Record<string, DeploymentKind>;

export type KindName = keyof typeof deploymentKinds;

/** The row of a kind by the name in the database. */
export function findKind(name: string): DeploymentKind {
  const kind = Object.entries<DeploymentKind>(deploymentKinds).find(([known]) => known === name)?.[1];
  if (!kind) throw new Error(`There is no kind of deployments '${name}'`);
  return kind;
}
