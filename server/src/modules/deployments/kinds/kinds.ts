import type { ImageDeploymentState, WanDeploymentState } from '@bakehouse/contract/deployments/images';
import type { Deployment } from '@bakehouse/contract/deployments/text';
import type { PriceId } from '../../credits/prices/prices.ts';
import { placeEmbeddingModel } from '../../serving/placement/embedding/place-embedding-model.ts';
import { placePipelineModel } from '../../serving/placement/place-pipeline-model.ts';
import { placeTextModel } from '../../serving/placement/text/place-text-model.ts';
import type { Place } from '../../serving/served-model.ts';
import type { ServerKindName } from '../../serving/server-kinds.ts';
import type { DeploymentState } from './deployment-state.ts';

/** The one table of what differs between kinds of deployments; the lifecycle is the same for all. */
type DeploymentKind = {
  /** What serves it. */
  server: ServerKindName;
  /** For what somebody deploys. */
  place: Place;
  /** What an hour costs, on the CPU or for each GPU. */
  hourPrice: Record<'CPU' | 'GPU', PriceId>;
  /** The wire's words. */
  states: Record<DeploymentState, string>;
};

/** Kinds of image models say the same of a deployment; `READY` is one that wakes when it is asked. */
const imageStates = {
  queued: 'pending',
  deploying: 'deploying',
  running: 'running',
  sleeping: 'READY',
  degraded: 'running',
  stopping: 'stopped',
  terminated: 'stopped',
  failed: 'failed',
} as const satisfies Record<DeploymentState, ImageDeploymentState>;

/** The same words of a Wan deployment. */
const wanStates = {
  queued: 'PENDING',
  deploying: 'DEPLOYING',
  running: 'running',
  sleeping: 'READY',
  degraded: 'running',
  stopping: 'TERMINATED',
  terminated: 'TERMINATED',
  failed: 'FAILED',
} as const satisfies Record<DeploymentState, WanDeploymentState>;

const imageKind = {
  server: 'image',
  hourPrice: { CPU: 'image_serving:CPU', GPU: 'image_serving:GPU' },
  states: imageStates,
} as const;

/** What the kinds whose deployments the wire calls vllm have in common. */
const textKind = {
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
} as const;

/**
 * Every kind of deployment. Another one is a row here, its calls in the contract with their bindings
 * in routes.ts, and what its row names.
 */
export const deploymentKinds = {
  /** Text models behind the OpenAI-style calls. The wire calls them vllm, whichever engine serves them. */
  text: { ...textKind, server: 'text', place: placeTextModel },
  /** Embedding models behind `/v1/embeddings`, which the calls of text models deploy as well. */
  embedding: { ...textKind, server: 'embedding', place: placeEmbeddingModel },
  /** FLUX models, which generate pictures. */
  flux: { ...imageKind, place: placePipelineModel('flux') },
  /** FLUX Kontext models, which edit pictures. */
  'flux-kontext': { ...imageKind, place: placePipelineModel('flux-kontext') },
  /** Paris models, whose experts generate pictures by turns. */
  paris: { ...imageKind, place: placePipelineModel('paris') },
  /** Wan models, which generate videos. */
  wan: { ...imageKind, place: placePipelineModel('wan'), states: wanStates },
} as const satisfies Record<string, DeploymentKind>;

export type KindName = keyof typeof deploymentKinds;

/** The kinds that the wire calls vllm. */
export const textKinds = ['text', 'embedding'] as const satisfies KindName[];

/** What a deployment of one of these kinds makes. Throws on another. */
export function textKindOf(kind: KindName): (typeof textKinds)[number] {
  const found = textKinds.find((one) => one === kind);
  if (!found) throw new Error(`A deployment of the kind ${kind} makes pictures`);
  return found;
}
