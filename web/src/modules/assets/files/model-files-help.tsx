/** How a model of any size comes below the limit of a file, and where its files have folders. */
export function ModelFilesHelp() {
  return (
    <>
      <span className="block">
        Save larger weights in smaller files with{' '}
        <code className="font-mono text-xs">save_pretrained(folder, max_shard_size="450MB")</code>.
      </span>
      <span className="block">
        For a model that has folders, such as FLUX or Paris, choose the folder that has model_index.json in
        it.
      </span>
    </>
  );
}
