/** Diffusers' file name for the LoRA weights of a pipeline. */
const WEIGHTS = 'pytorch_lora_weights.safetensors';
/** Complete models have one of the first two files; text adapters have the last. */
const OF_OTHERS = ['config.json', 'model_index.json', 'adapter_config.json'];
/** Libraries' file names for the weights of complete models and of text adapters. */
const OF_LIBRARIES = /^(model|adapter_model|diffusion_pytorch_model)(-\d+-of-\d+)?\.safetensors$/;

/**
 * Returns the weights of an image LoRA among a model's files. This is the file with Diffusers' name or, from
 * other trainers, the only safetensors file of a model without files of other model types. Undefined if the
 * model is not a LoRA.
 */
export function findLoraFile<File extends { path: string }>(files: readonly File[]): File | undefined {
  const top = files.filter(({ path }) => !path.includes('/'));
  const named = top.find(({ path }) => path === WEIGHTS);
  if (named) return named;
  if (top.some(({ path }) => OF_OTHERS.includes(path))) return undefined;
  const [only, ...more] = top.filter(({ path }) => path.endsWith('.safetensors'));
  return only && more.length === 0 && !OF_LIBRARIES.test(only.path) ? only : undefined;
}

/** Returns true if a file with this path can change whether a model is a LoRA. */
export function affectsLora(path: string): boolean {
  return !path.includes('/') && (path.endsWith('.safetensors') || OF_OTHERS.includes(path));
}
