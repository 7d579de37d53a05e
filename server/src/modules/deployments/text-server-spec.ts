import type { ServeTextSpec } from '@bakehouse/contract/runtime/serve-spec';
import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';

/** One file set that a text server can load: the base, or an adapter on it. */
export type ServedBase = {
  engine: ServeTextSpec['engine'];
  files: InputFile[];
  /** Over the paths and hashes of the files: the same value, the same base. */
  filesSha256: string;
  modelFile: string;
};
export type ServedAdapter = { revisionId: string; files: InputFile[]; file: string; rank: number };

type TextSpec = Omit<ServeTextSpec, 'workload_id' | 'server' | 'work_dir' | 'inputs_dir' | 'api_key'>;

/** How many requests one server answers at once, and what each may hold. */
export const PARALLEL_REQUESTS = 4;
export const CONTEXT_TOKENS = 4096;

/**
 * Text servers that may run on the CPU at once. They idle most of the time, and a server is
 * replaced by starting its successor beside it, so there must be room for more than are wanted.
 */
export const CPU_SERVERS = 4;

/**
 * What the runtime is told to serve a base model with its adapters. Adapters are named after their
 * revision. `gpus` is 0 on the CPU.
 */
export function textServerSpec(
  base: Omit<ServedBase, 'filesSha256'>,
  adapters: ServedAdapter[],
  { threads, gpus }: Pick<ServeTextSpec, 'threads' | 'gpus'>,
): TextSpec {
  return {
    kind: 'serve',
    task: 'text',
    engine: base.engine,
    model_name: 'base',
    model_file: base.modelFile,
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
    host: '127.0.0.1',
    port: 0,
    context_tokens: CONTEXT_TOKENS,
    parallel_requests: PARALLEL_REQUESTS,
    threads,
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
  engine: ServeTextSpec['engine'],
  adapterNames: string[],
  adapter: string | null,
): Record<string, unknown> {
  if (engine === 'vllm') return { model: adapter ?? 'base' };
  return { lora: adapterNames.map((name, id) => ({ id, scale: name === adapter ? 1 : 0 })) };
}
