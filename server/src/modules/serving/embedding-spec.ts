import {
  type ServeEmbeddingSpec,
  serveEmbeddingSpec,
} from '@bakehouse/contract/runtime/serve-embedding-spec';
import type { WorkloadSpec } from '../../engine/model/workload.ts';
import type { ServerParts } from './served-model.ts';
import { PARALLEL_REQUESTS } from './text-spec.ts';

export type EmbeddingEngine = ServeEmbeddingSpec['engine'];

type EmbeddingSpec = Extract<WorkloadSpec, { task: 'embedding' }>;

/** Returns the runtime's spec for serving an embedding model. */
export function embeddingSpec({ base, gpus, contextTokens }: ServerParts): EmbeddingSpec {
  const engine = serveEmbeddingSpec.shape.engine.parse(base.engine);
  return {
    kind: 'serve',
    task: 'embedding',
    engine,
    model_name: 'base',
    model_file: base.files.find(({ path }) => path.endsWith('.gguf'))?.path ?? '',
    inputs: [{ name: 'base_model', files: base.files }],
    port: 0,
    context_tokens: contextTokens,
    parallel_requests: PARALLEL_REQUESTS[engine],
    gpus,
  };
}
