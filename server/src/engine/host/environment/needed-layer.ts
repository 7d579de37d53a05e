import type { ServingEngine, SpecKind } from '../../model/spec-kind.ts';
import type { Layer } from './layers.ts';

/** The layer with each engine's packages; without PyTorch only llama.cpp is available. */
const layerOfEngine = {
  llamacpp: 'serving',
  encoder: 'serving',
  vllm: 'vllm',
  paris: 'training',
  kontext: 'training',
  wan: 'training',
} as const satisfies Record<ServingEngine, Layer>;

type NeededLayer = (typeof layerOfEngine)[ServingEngine];

/** All spec kinds. */
export const specKinds: SpecKind[] = [
  { kind: 'train', engine: null },
  { kind: 'export', engine: null },
  ...(Object.keys(layerOfEngine) as ServingEngine[]).map((engine) => ({ kind: 'serve', engine }) as const),
];

/** Returns the layer of the Python environment that this kind of work needs. */
export function neededLayer({ engine }: SpecKind): NeededLayer {
  return engine === null ? 'training' : layerOfEngine[engine];
}
