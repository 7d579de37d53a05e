import type { Services } from '../context.ts';
import { watchForDamage } from './watch-for-damage.ts';

/**
 * Lends the bytes of a file to a program that needs a path, as long as `work` takes. Throws
 * AppError('conflict') with a sentence that names the file where they are damaged.
 */
export async function withBlobFile<T>(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  file: { sha256: string; path: string },
  work: (localPath: string) => Promise<T>,
): Promise<T> {
  const toError = await watchForDamage(services, file);
  return services.blobs.withLocalFile(file.sha256, work).catch(async (error: unknown) => {
    throw await toError(error);
  });
}
