import type { Rolldown } from 'vite';

type Bundle = Rolldown.OutputBundle;
type Chunk = Rolldown.OutputChunk;

/**
 * Returns the entry and the chunks of the given modules of src, with their static imports; null if a module
 * is in no chunk.
 */
export function screenChunks(modules: readonly string[], bundle: Bundle): Chunk[] | null {
  const chunks = Object.values(bundle).filter((output): output is Chunk => output.type === 'chunk');
  const own = modules.map((module) =>
    chunks.find((chunk) => chunk.moduleIds.some((id) => id.endsWith(`/src/${module}`))),
  );
  if (own.includes(undefined)) return null;
  const needed = new Set(chunks.filter((chunk) => chunk.isEntry || own.includes(chunk)));
  // Grows while iterating, to include transitive imports.
  for (const { imports } of needed)
    for (const chunk of chunks) if (imports.includes(chunk.fileName)) needed.add(chunk);
  return [...needed];
}
