/** What Diffusers calls the weights of a LoRA for a pipeline. */
const WEIGHTS = 'pytorch_lora_weights.safetensors';
/** A model of its own has one of these, and an adapter for text the last. */
const OF_OTHERS = ['config.json', 'model_index.json', 'adapter_config.json'];
/** The names that libraries give to the weights of whole models, and of adapters for text. */
const OF_LIBRARIES = /^(model|adapter_model|diffusion_pytorch_model)(-\d+-of-\d+)?\.safetensors$/;

/**
 * The weights of a LoRA for images among the files of a model: the file that Diffusers names so, or the one safetensors file
 * of a model that has nothing else to load, as other trainers write it. Undefined where the model is none. Pure.
 */
export function findLoraFile<File extends { path: string }>(files: readonly File[]): File | undefined {
  const top = files.filter(({ path }) => !path.includes('/'));
  const named = top.find(({ path }) => path === WEIGHTS);
  if (named) return named;
  if (top.some(({ path }) => OF_OTHERS.includes(path))) return undefined;
  const [only, ...more] = top.filter(({ path }) => path.endsWith('.safetensors'));
  return only && more.length === 0 && !OF_LIBRARIES.test(only.path) ? only : undefined;
}

/** Whether a file of this path can make a model a LoRA, or no LoRA any more. Pure. */
export function bearsOnLora(path: string): boolean {
  return !path.includes('/') && (path.endsWith('.safetensors') || OF_OTHERS.includes(path));
}
