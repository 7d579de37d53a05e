import type { ServingEngine, SpecKind } from '../../model/spec-kind.ts';
import type { Layer } from './layers.ts';

/** Where each engine's packages lie: without PyTorch there is llama.cpp alone. */
const layerOfEngine = {
  llamacpp: 'serving',
  encoder: 'serving',
  vllm: 'vllm',
  paris: 'training',
  kontext: 'training',
  wan: 'training',
} as const satisfies Record<ServingEngine, Layer>;

type NeededLayer = (typeof layerOfEngine)[ServingEngine];

/** All kinds of specs that there are. */
export const specKinds: SpecKind[] = [
  { kind: 'train', engine: null },
  { kind: 'export', engine: null },
  ...(Object.keys(layerOfEngine) as ServingEngine[]).map((engine) => ({ kind: 'serve', engine }) as const),
];

/** The layer of the Python environment that work of this kind needs. Pure. */
export function neededLayer({ engine }: SpecKind): NeededLayer {
  return engine === null ? 'training' : layerOfEngine[engine];
}
