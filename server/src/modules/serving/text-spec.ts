import type { ServeEmbeddingSpec } from '@bakehouse/contract/runtime/serve-embedding-spec';
import { type ServeTextSpec, serveTextSpec } from '@bakehouse/contract/runtime/serve-spec';
import type { WorkloadSpec } from '../../engine/model/workload.ts';
import type { ServerParts } from './served-model.ts';

export type TextEngine = ServeTextSpec['engine'];

type TextSpec = Extract<WorkloadSpec, { task: 'text' }>;

/** How many requests one server answers at once: a CPU has as much to compute for each, a GPU writes for many in one step. */
export const PARALLEL_REQUESTS = { llamacpp: 4, encoder: 4, vllm: 64 } as const satisfies Record<
  TextEngine | ServeEmbeddingSpec['engine'],
  number
>;

/**
 * What the runtime is told to serve a base model with its adapters. Adapters are named after their
 * revision. How many threads there are is known where it is started.
 */
export function textSpec({ base, adapters, gpus, contextTokens }: ServerParts): TextSpec {
  const engine = serveTextSpec.shape.engine.parse(base.engine);
  return {
    kind: 'serve',
    task: 'text',
    engine,
    model_name: 'base',
    // llama.cpp opens one file, vLLM the folder.
    model_file:
      engine === 'llamacpp' ? (base.files.find(({ path }) => path.endsWith('.gguf'))?.path ?? '') : '',
    inputs: [
      { name: 'base_model', files: base.files },
      ...adapters.map((adapter) => ({ name: inputName(adapter.revisionId), files: adapter.files })),
    ],
    adapters: adapters.map((adapter) => ({
      name: adapter.revisionId,
      input: inputName(adapter.revisionId),
      file: adapter.file,
      rank: adapter.rank,
    })),
    port: 0,
    context_tokens: contextTokens,
    parallel_requests: PARALLEL_REQUESTS[engine],
    gpus,
  };
}

function inputName(revisionId: string): string {
  return `adapter-${revisionId}`;
}

/**
 * The part of a request that chooses the adapter. llama.cpp takes weights by position, and those that
 * are not wanted must be told so; vLLM takes the name. `adapter` null: the base alone.
 */
export function chooseAdapter(
  engine: TextEngine,
  adapterNames: string[],
  adapter: string | null,
): Record<string, unknown> {
  if (engine === 'vllm') return { model: adapter ?? 'base' };
  return { lora: adapterNames.map((name, id) => ({ id, scale: name === adapter ? 1 : 0 })) };
}
