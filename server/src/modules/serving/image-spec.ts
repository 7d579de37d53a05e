import { type ServeImageSpec, serveImageSpec } from '@bakehouse/contract/runtime/serve-image-spec';
import type { WorkloadSpec } from '../../engine/model/workload.ts';
import type { ServerParts } from './served-model.ts';

export type ImageEngine = ServeImageSpec['engine'];

type ImageSpec = Extract<WorkloadSpec, { task: 'image' }>;

/** How many pictures one server generates at once. */
export const PARALLEL_PICTURES = 4;

/** What the runtime is told to serve an image model. */
export function imageSpec({ base: { engine, files }, gpus }: ServerParts): ImageSpec {
  return {
    kind: 'serve',
    task: 'image',
    engine: serveImageSpec.shape.engine.parse(engine),
    inputs: [{ name: 'model', files }],
    port: 0,
    parallel_requests: PARALLEL_PICTURES,
    gpus,
  };
}
