import type { Deployment } from '@bakehouse/contract/deployments/text';
import type { ImageDeploymentState } from '@bakehouse/contract/deployments/images';
import { placeImageModel } from '../../serving/placement/place-image-model.ts';
import { placePipelineModel } from '../../serving/placement/place-pipeline-model.ts';
import { placeTextModel } from '../../serving/placement/text/place-text-model.ts';
import type { DeploymentKind, ServerKind } from '../../serving/served-model.ts';
import type { DeploymentState } from './deployment-state.ts';
import { type ImageEngine, imageSpec } from '../../serving/image-spec.ts';
import { type TextEngine, textSpec } from '../../serving/text-spec.ts';

/** Every kind of model server, by what it makes. */
export const serverKinds = {
  text: { place: placeTextModel, spec: textSpec },
  image: { place: placeImageModel, spec: imageSpec },
} as const satisfies Record<string, ServerKind>;

export type ServerKindName = keyof typeof serverKinds;

/** What serves models of a kind. */
export type EngineOf = { text: TextEngine; image: ImageEngine };

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

const imageKind = {
  server: 'image',
  hourPrice: { CPU: 'image_serving:CPU', GPU: 'image_serving:GPU' },
  states: imageStates,
} as const;

/**
 * Every kind of deployment. Another one is a row here, its calls in the contract with their bindings
 * in routes.ts, and what its row names.
 */
export const deploymentKinds = {
  /** Text models behind the OpenAI-style calls. The wire calls them vllm, whichever engine serves them. */
  text: {
    server: 'text',
    place: placeTextModel,
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
  /** FLUX models, which generate pictures. */
  flux: { ...imageKind, place: placePipelineModel('flux') },
  /** FLUX Kontext models, which edit pictures. */
  'flux-kontext': { ...imageKind, place: placePipelineModel('flux-kontext') },
  /** Paris models, whose experts generate pictures by turns. */
  paris: { ...imageKind, place: placePipelineModel('paris') },
} as const satisfies Record<string, DeploymentKind>;

export type KindName = keyof typeof deploymentKinds;

/** The row of a kind of model servers by the name in the database. */
export function findServerKind(name: string): ServerKind {
  const kind = Object.entries<ServerKind>(serverKinds).find(([known]) => known === name)?.[1];
  if (!kind) throw new Error(`There is no kind of model servers '${name}'`);
  return kind;
}
