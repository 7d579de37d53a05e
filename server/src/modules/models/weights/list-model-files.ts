type Named = { path: string };

/** Files that Transformers does not load: documentation, weights in other formats, and adapters. */
const OTHER =
  /^\.|\.md$|^(licen[sc]e|notice)|^adapter_(config\.json|model\.)|\.(gguf|bin|pt|pth|onnx|h5|msgpack)$/i;

/**
 * Returns the files of a text model that Transformers and vLLM load: safetensors, tokenizer, configuration.
 */
export function listModelFiles<F extends Named>(files: F[]): F[] {
  return files.filter(({ path }) => !path.includes('/') && !OTHER.test(path));
}
