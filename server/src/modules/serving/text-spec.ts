import type { ServeEmbeddingSpec } from '@bakehouse/contract/runtime/serve-embedding-spec';
import { type ServeTextSpec, serveTextSpec } from '@bakehouse/contract/runtime/serve-spec';
import type { WorkloadSpec } from '../../engine/model/workload.ts';
import type { ServerParts } from './served-model.ts';

export type TextEngine = ServeTextSpec['engine'];

type TextSpec = Extract<WorkloadSpec, { task: 'text' }>;

/** Requests that one server answers concurrently: each costs a CPU the same work, but a GPU batches them. */
export const PARALLEL_REQUESTS = { llamacpp: 4, encoder: 4, vllm: 64 } as const satisfies Record<
  TextEngine | ServeEmbeddingSpec['engine'],
  number
>;

/**
 * Returns the runtime's spec for serving a base model with its adapters, which are named after their
 * revision. The number of threads is set on the machine that starts it.
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
 * Returns the request fields that select the adapter; null selects the base alone. vLLM expects a name,
 * llama.cpp a scale for every adapter, 0 for unused ones.
 */
export function chooseAdapter(
  engine: TextEngine,
  adapterNames: string[],
  adapter: string | null,
): Record<string, unknown> {
  if (engine === 'vllm') return { model: adapter ?? 'base' };
  return { lora: adapterNames.map((name, id) => ({ id, scale: name === adapter ? 1 : 0 })) };
}
