import type { ServeEmbeddingSpec } from '@bakehouse/contract/runtime/serve-embedding-spec';
import type { ServeImageSpec } from '@bakehouse/contract/runtime/serve-image-spec';
import type { ServeTextSpec } from '@bakehouse/contract/runtime/serve-spec';
import type { WorkloadSpec } from './workload.ts';

/** Engine that serves a model. */
export type ServingEngine = (ServeTextSpec | ServeEmbeddingSpec | ServeImageSpec)['engine'];

/** The parts of a spec that decide which program executes it. */
export type SpecKind = { kind: 'train' | 'export'; engine: null } | { kind: 'serve'; engine: ServingEngine };

/** Returns the kind of a spec. */
export function specKind(spec: WorkloadSpec): SpecKind {
  return spec.kind === 'serve' ? { kind: 'serve', engine: spec.engine } : { kind: spec.kind, engine: null };
}
