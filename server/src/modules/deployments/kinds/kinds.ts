import type { ImageDeploymentState, WanDeploymentState } from '@bakehouse/contract/deployments/images';
import type { Deployment } from '@bakehouse/contract/deployments/text';
import type { PriceId } from '../../billing/prices/prices.ts';
import { placeEmbeddingModel } from '../../serving/placement/embedding/place-embedding-model.ts';
import { placePipelineModel } from '../../serving/placement/place-image-model.ts';
import { placeTextModel } from '../../serving/placement/text/place-text-model.ts';
import type { Place } from '../../serving/served-model.ts';
import type { ServerKindName } from '../../serving/server-kinds.ts';
import type { DeploymentState } from './deployment-state.ts';

/** How a kind of deployment differs from the others. All kinds share one lifecycle. */
type DeploymentKind = {
  /** The kind of model server that it needs. */
  server: ServerKindName;
  /** Finds the placement for a user's model. */
  place: Place;
  /** Price per hour, on the CPU or per GPU. */
  hourPrice: Record<'CPU' | 'GPU', PriceId>;
  /** State names in the API. */
  states: Record<DeploymentState, string>;
};

/** The API's state names of the image kinds. `READY` is a sleeping deployment, which wakes on request. */
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

/** The API's names of the same states for Wan deployments. */
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

/** Properties shared by the kinds that the API calls vllm. */
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
 * All kinds of deployments. For a new kind, add a row here with its functions, its calls to the contract, and
 * their bindings to routes.ts.
 */
export const deploymentKinds = {
  /**
   * Text models behind the OpenAI-compatible calls. The API calls them vllm, even if another engine serves
   * them.
   */
  text: { ...textKind, server: 'text', place: placeTextModel },
  /** Embedding models behind `/v1/embeddings`; deployed over the text API too. */
  embedding: { ...textKind, server: 'embedding', place: placeEmbeddingModel },
  /** FLUX models, which generate pictures. */
  flux: { ...imageKind, place: placePipelineModel('flux') },
  /** FLUX Kontext models, which edit pictures. */
  'flux-kontext': { ...imageKind, place: placePipelineModel('flux-kontext') },
  /** Paris models, whose experts take part in each picture step by step. */
  paris: { ...imageKind, place: placePipelineModel('paris') },
  /** Wan models, which generate videos. */
  wan: { ...imageKind, place: placePipelineModel('wan'), states: wanStates },
} as const satisfies Record<string, DeploymentKind>;

export type KindName = keyof typeof deploymentKinds;

/** The kinds that the API calls vllm. */
export const textKinds = ['text', 'embedding'] as const satisfies KindName[];

/** Returns the kind as a text kind. Throws for an image kind. */
export function textKindOf(kind: KindName): (typeof textKinds)[number] {
  const found = textKinds.find((one) => one === kind);
  if (!found) throw new Error(`Deployment kind ${kind} is not a text kind`);
  return found;
}
