import type { Services } from '../context.ts';
import { withBlobFile } from './with-blob-file.ts';

/** `withBlobFile` for several files at once: `work` gets a path for each, in their order. */
export async function withBlobFiles<T>(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  files: { sha256: string; path: string }[],
  work: (localPaths: string[]) => Promise<T>,
): Promise<T> {
  const [first, ...others] = files;
  if (first === undefined) return work([]);
  return withBlobFile(services, first, (localPath) =>
    withBlobFiles(services, others, (localPaths) => work([localPath, ...localPaths])),
  );
}
