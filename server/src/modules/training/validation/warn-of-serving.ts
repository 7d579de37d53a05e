import { DEFAULT_CONTEXT_TOKENS } from '@bakehouse/contract/limits';
import type { Capacity } from '../../../engine/model/capacity.ts';
import { findGguf } from '../../models/weights/find-gguf.ts';
import type { SettledFields } from '../fine-tune-spec.ts';

type Run = {
  base: { asset: { title: string }; files: { path: string }[] };
  /** The base's config.json; null if missing. */
  config: Record<string, unknown> | null;
  /** Why llama.cpp cannot load the adapter; null if it can. */
  obstacle: string | null;
  fields: Pick<SettledFields, 'lora_target_modules' | 'max_chunk_size' | 'use_dora'>;
};

/** Families for which vLLM supports no adapter on lm_head. */
const WITHOUT_HEAD = ['qwen2', 'qwen2_moe', 'qwen3', 'qwen3_moe'];

/**
 * Returns warnings about settings that would prevent deploying the paid fine-tune here, or serving it as
 * trained.
 */
export function warnOfServing(run: Run, capacity: Capacity): string[] {
  const found = [capacity.servesTextOnGpus ? warnOfHead(run) : warnOfLlamaCpp(run), warnOfLength(run)];
  return found.filter((warning) => warning !== null);
}

function warnOfLlamaCpp({ base, obstacle }: Run): string | null {
  const gguf = findGguf(base);
  const fault = gguf.files.length > 0 ? gguf.fault : `${base.asset.title} has no GGUF file`;
  const reason = fault === null ? obstacle : `${fault}.`;
  if (reason === null) return null;
  return (
    'What this run makes can be downloaded, but not deployed on this machine, ' +
    `which serves text with llama.cpp: ${reason}`
  );
}

function warnOfHead({ base, config, fields }: Run): string | null {
  const isRefused =
    // A merged model has no adapter.
    !fields.use_dora &&
    fields.lora_target_modules.includes('lm_head') &&
    WITHOUT_HEAD.some((family) => family === config?.model_type) &&
    config?.tie_word_embeddings !== true;
  if (!isRefused) return null;
  return (
    "What this run makes can be downloaded, but not deployed on this machine's GPUs: vLLM takes no adapter on lm_head " +
    `of models like ${base.asset.title}. Leave lm_head out of the target modules.`
  );
}

function warnOfLength({ config, fields }: Run): string | null {
  const positions = config?.max_position_embeddings;
  const most = typeof positions === 'number' ? positions : Infinity;
  const served = Math.min(most, DEFAULT_CONTEXT_TOKENS);
  if (fields.max_chunk_size <= served) return null;
  return (
    `Examples may have up to ${fields.max_chunk_size} tokens, but a deployment of the model reads and writes ` +
    `at most ${served} in one request${most > served ? ' unless it asks for a longer context' : ''}.`
  );
}
