import { readFile } from 'node:fs/promises';
import { fairQueue } from '../../platform/concurrency/fair-queue.ts';
import type { Services } from '../../platform/context.ts';
import { withBlobFile } from '../../platform/storage/with-blob-file.ts';
import { type InspectedPicture, inspectPicture } from './inspect-picture.ts';

/** Limits pictures loaded whole by this process: checking takes milliseconds, but each may have 20 MB. */
const places = fairQueue(2);

/**
 * Runs `work` with a stored picture, loaded whole and inspected. Throws BadPicture if it is not accepted, and
 * whatever `withBlobFile` and `work` throw.
 */
export function withPicture<Result>(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  file: { sha256: string; path: string },
  work: (picture: InspectedPicture & { bytes: Buffer }) => Result | Promise<Result>,
): Promise<Result> {
  return withBlobFile(services, file, (localPath) =>
    places.run('', async () => {
      const bytes = await readFile(localPath);
      return work({ ...inspectPicture(bytes), bytes });
    }),
  );
}
