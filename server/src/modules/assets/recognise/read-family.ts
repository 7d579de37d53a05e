import * as z from 'zod';

/** Where a model of Transformers says what it is. */
export const MODEL_CONFIG = 'config.json';

const modelConfig = z.object({ model_type: z.string().regex(/^[\w-]{1,50}$/) });
const pipelineIndex = z.object({ _class_name: z.string().regex(/^\w{1,100}$/) });

/** Versions of one family, which people call by one name. */
const FAMILIES: Record<string, string> = {
  qwen2: 'qwen',
  qwen2_moe: 'qwen',
  qwen3: 'qwen',
  qwen3_moe: 'qwen',
};

/**
 * The family of a model, as people say it, by the file that tells it: of Transformers' config.json the model type ('llama',
 * 'qwen', 'mistral'), of Diffusers' model_index.json the pipeline ('flux', 'flux-kontext', 'stable-diffusion-xl'). Null
 * where the content tells none. Pure.
 */
export function readFamily(content: unknown): string | null {
  const pipeline = pipelineIndex.safeParse(content).data?._class_name;
  if (pipeline?.endsWith('Pipeline')) return toWords(pipeline.slice(0, -'Pipeline'.length));
  const type = modelConfig.safeParse(content).data?.model_type.toLowerCase();
  return type === undefined ? null : (FAMILIES[type] ?? type);
}

/** FluxKontext as flux-kontext, StableDiffusionXL as stable-diffusion-xl. */
function toWords(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3-$2$4').toLowerCase();
}
