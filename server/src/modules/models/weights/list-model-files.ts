type Named = { path: string };

/** What people read, what other programs load, and adapters that lie beside a model. */
const OTHER =
  /^\.|\.md$|^(licen[sc]e|notice)|^adapter_(config\.json|model\.)|\.(gguf|bin|pt|pth|onnx|h5|msgpack)$/i;

/** The files of a text model that Transformers and vLLM read: safetensors, tokenizer, configuration. Pure. */
export function listModelFiles<F extends Named>(files: F[]): F[] {
  return files.filter(({ path }) => !path.includes('/') && !OTHER.test(path));
}
