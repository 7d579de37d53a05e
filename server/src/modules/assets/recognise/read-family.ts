import * as z from 'zod';

/** The file in which a Transformers model describes itself. */
export const MODEL_CONFIG = 'config.json';

const modelConfig = z.object({ model_type: z.string().regex(/^[\w-]{1,50}$/) });
const pipelineIndex = z.object({ _class_name: z.string().regex(/^\w{1,100}$/) });

/** Versions of a family with a common name. */
const FAMILIES: Record<string, string> = {
  qwen2: 'qwen',
  qwen2_moe: 'qwen',
  qwen3: 'qwen',
  qwen3_moe: 'qwen',
};

/**
 * Returns the family of a model from the file that names it: the model type in Transformers' config.json
 * ('llama', 'qwen', 'mistral'), or the pipeline in Diffusers' model_index.json ('flux', 'flux-kontext',
 * 'stable-diffusion-xl'). Null if the content names none.
 */
export function readFamily(content: unknown): string | null {
  const pipeline = pipelineIndex.safeParse(content).data?._class_name;
  if (pipeline?.endsWith('Pipeline')) return toWords(pipeline.slice(0, -'Pipeline'.length));
  const type = modelConfig.safeParse(content).data?.model_type.toLowerCase();
  return type === undefined ? null : (FAMILIES[type] ?? type);
}

/** Converts FluxKontext to flux-kontext, and StableDiffusionXL to stable-diffusion-xl. */
function toWords(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3-$2$4').toLowerCase();
}
