import { open } from 'node:fs/promises';
import type { Services } from '../../../platform/context.ts';
import { withBlobFile } from '../../../platform/storage/with-blob-file.ts';
import { type InspectedVideo, inspectVideo } from './inspect-video.ts';

/**
 * Inspects a stored file as a video. Throws BadVideo if it is not an accepted one, and whatever
 * `withBlobFile` throws.
 */
export function lookAtVideo(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  file: { sha256: string; path: string },
): Promise<InspectedVideo> {
  return withBlobFile(services, file, async (localPath) => {
    await using handle = await open(localPath);
    const { size } = await handle.stat();
    const read = async (at: number, length: number) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
      return buffer.subarray(0, bytesRead);
    };
    return await inspectVideo({ size, read });
  });
}
