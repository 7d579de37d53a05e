import type { ServeEmbeddingSpec } from '@bakehouse/contract/runtime/serve-embedding-spec';
import type { ServeImageSpec } from '@bakehouse/contract/runtime/serve-image-spec';
import type { ServeTextSpec } from '@bakehouse/contract/runtime/serve-spec';
import type { WorkloadSpec } from './workload.ts';

/** What serves a model. */
export type ServingEngine = (ServeTextSpec | ServeEmbeddingSpec | ServeImageSpec)['engine'];

/** What of a spec decides which program executes it. */
export type SpecKind = { kind: 'train' | 'export'; engine: null } | { kind: 'serve'; engine: ServingEngine };

/** That of a whole spec. */
export function specKind(spec: WorkloadSpec): SpecKind {
  return spec.kind === 'serve' ? { kind: 'serve', engine: spec.engine } : { kind: spec.kind, engine: null };
}
