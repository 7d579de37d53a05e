import type { Services } from '../context.ts';
import { watchForDamage } from './watch-for-damage.ts';

type Parts = Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>;
type StoredFile = { sha256: string; path: string };

/** Provides a file as a local path while `work` runs. Throws AppError 'conflict' for damaged bytes. */
export async function withBlobFile<T>(
  services: Parts,
  file: StoredFile,
  work: (localPath: string) => Promise<T>,
): Promise<T> {
  const toError = await watchForDamage(services, file);
  return services.blobs.withLocalFile(file.sha256, work).catch(async (error: unknown) => {
    throw await toError(error);
  });
}

/** `withBlobFile` for several files: `work` gets a path for each, in the same order. */
export async function withBlobFiles<T>(
  services: Parts,
  files: StoredFile[],
  work: (localPaths: string[]) => Promise<T>,
): Promise<T> {
  const [first, ...others] = files;
  if (first === undefined) return work([]);
  return withBlobFile(services, first, (localPath) =>
    withBlobFiles(services, others, (localPaths) => work([localPath, ...localPaths])),
  );
}
