import { CHAT_PICTURES_MAX } from '@bakehouse/contract/chat-pictures';
import type { ServeEmbeddingSpec } from '@bakehouse/contract/runtime/serve-embedding-spec';
import { type ServeTextSpec, serveTextSpec } from '@bakehouse/contract/runtime/serve-spec';
import type { WorkloadSpec } from '../../engine/model/workload.ts';
import { findGgufs, findProjector, preparesPictures } from '../models/weights/model-files.ts';
import { LOADABLE_LORA_RANK } from './placement/text/lora-slots.ts';
import type { ServedAdapter, ServerParts } from './served-model.ts';

export type TextEngine = ServeTextSpec['engine'];

type TextSpec = Extract<WorkloadSpec, { task: 'text' }>;

/**
 * Requests that one server answers concurrently. On a CPU, more requests only slow each other down; a GPU
 * batches them. vLLM batches at least this many on every GPU by default; further requests wait for memory.
 */
export const PARALLEL_REQUESTS = { llamacpp: 4, encoder: 4, vllm: 256 } as const satisfies Record<
  TextEngine | ServeEmbeddingSpec['engine'],
  number
>;

/**
 * Returns the runtime's spec for serving a base model with its adapters. The name of an adapter is the id of
 * its revision. The machine that starts the server sets the number of threads.
 */
export function textSpec({ base, adapters, gpus, contextTokens }: ServerParts): TextSpec {
  const engine = serveTextSpec.shape.engine.parse(base.engine);
  const parts = adapters.map(adapterParts);
  return {
    kind: 'serve',
    task: 'text',
    engine,
    model_name: 'base',
    // llama.cpp needs the path of a file, vLLM the path of a folder.
    model_file: engine === 'llamacpp' ? (findGgufs(base.files)[0]?.path ?? '') : '',
    projector_file: engine === 'llamacpp' ? (findProjector(base.files)?.path ?? '') : '',
    pictures_max: engine === 'vllm' && base.files.some(preparesPictures) ? CHAT_PICTURES_MAX : 0,
    inputs: [{ name: 'base_model', files: base.files }, ...parts.map(({ input }) => input)],
    adapters: parts.map(({ adapter }) => adapter),
    lora_rank: engine === 'vllm' ? Math.max(LOADABLE_LORA_RANK, ...adapters.map(({ rank }) => rank)) : 0,
    port: 0,
    context_tokens: contextTokens,
    parallel_requests: PARALLEL_REQUESTS[engine],
    gpus,
  };
}

/** Returns the entries of the spec for an adapter. */
export function adapterParts({ revisionId, files, file, rank }: ServedAdapter) {
  const input = `adapter-${revisionId}`;
  return { adapter: { name: revisionId, input, file, rank }, input: { name: input, files } };
}

/**
 * Returns the request fields that select the adapter; null selects the base without an adapter. vLLM expects
 * the adapter's name. llama.cpp expects a scale for each adapter, which is 0 for the others.
 */
export function chooseAdapter(
  engine: TextEngine,
  adapterNames: string[],
  adapter: string | null,
): Record<string, unknown> {
  if (engine === 'vllm') return { model: adapter ?? 'base' };
  return { lora: adapterNames.map((name, id) => ({ id, scale: name === adapter ? 1 : 0 })) };
}
