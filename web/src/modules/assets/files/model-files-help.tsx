/** Where the files of a model have folders. */
export function ModelFilesHelp() {
  return (
    <span className="block">
      For a model that has folders, such as FLUX or Paris, choose the folder that has model_index.json in it.
    </span>
  );
}
