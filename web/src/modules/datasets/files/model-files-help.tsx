/** Explains the upload of models with folders. */
export function ModelFilesHelp() {
  return (
    <span className="block">
      For a model with folders, such as FLUX, choose the one with model_index.json.
    </span>
  );
}
