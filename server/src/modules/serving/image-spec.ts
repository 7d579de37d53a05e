import { type ServeImageSpec, serveImageSpec } from '@bakehouse/contract/runtime/serve-image-spec';
import type { WorkloadSpec } from '../../engine/model/workload.ts';
import type { ServedAdapter, ServedBase } from './served-model.ts';

export type ImageEngine = ServeImageSpec['engine'];

type ImageSpec = Extract<WorkloadSpec, { task: 'image' }>;

/** How many pictures one server generates at once. */
export const PARALLEL_PICTURES = 4;

/** What the runtime is told to serve an image model. `gpus` is 0 on the CPU. */
export function imageSpec(
  { engine, files }: Pick<ServedBase, 'engine' | 'files'>,
  _adapters: ServedAdapter[],
  gpus: number,
): ImageSpec {
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
