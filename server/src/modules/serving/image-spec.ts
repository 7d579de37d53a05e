import { type ServeImageSpec, serveImageSpec } from '@bakehouse/contract/runtime/serve-image-spec';
import type { WorkloadSpec } from '../../engine/model/workload.ts';
import type { ServerParts } from './served-model.ts';

export type ImageEngine = ServeImageSpec['engine'];

type ImageSpec = Extract<WorkloadSpec, { task: 'image' }>;

/** Pictures that one server generates concurrently. */
export const PARALLEL_PICTURES = 4;

/** Returns the runtime's spec for serving an image model. */
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
