import type { BlobStore } from './blob-store.ts';

/** `withLocalFile` for several blobs at once: `work` gets a path for each, in their order. */
export async function withLocalFiles<T>(
  blobs: Pick<BlobStore, 'withLocalFile'>,
  sha256s: string[],
  work: (localPaths: string[]) => Promise<T>,
): Promise<T> {
  const [first, ...others] = sha256s;
  if (first === undefined) return work([]);
  return blobs.withLocalFile(first, (localPath) =>
    withLocalFiles(blobs, others, (localPaths) => work([localPath, ...localPaths])),
  );
}
