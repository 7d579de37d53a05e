import { Readable } from 'node:stream';
import { pictureMessages, videoMessages } from '@bakehouse/contract/media';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { BadMedia } from '../../media/bad-media.ts';
import type { InspectedPicture } from '../../media/inspect-picture.ts';
import { embedMetadata } from '../../media/metadata/embed-metadata.ts';
import { withPicture } from '../../media/receive-picture.ts';
import type { Thumbnail } from '../../media/thumbnails/thumbnails.ts';
import { inspectStoredVideo } from '../../media/videos/inspect-video.ts';
import type { Medium } from '../media-table.ts';
import { ensureThumbnail } from '../sources/pictures.ts';
import type { ComingOutput, OutputShape, StoredOutput } from './attempt.ts';

type Options = {
  userId: string;
  medium: Pick<Medium, 'bytesMax' | 'noun'>;
  /** Called once the file has arrived, before its inspection, which may crash the process. */
  onReceived: () => Promise<void>;
};

/** Maximum size of a video's poster or strip of frames. */
const BESIDE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Streams an output into the store and inspects it. The file is garbage-collected unless a row references it
 * soon. Throws BadMedia for a file that is too large, incomplete or not of the declared type, errors while
 * reading its bytes, and the errors of `onReceived`.
 */
export async function storeOutput(
  services: Services,
  { bytes, declared, metadata, beside = [] }: ComingOutput,
  { userId, medium, onReceived }: Options,
): Promise<StoredOutput> {
  const messages = medium.noun === 'video' ? videoMessages : pictureMessages;
  const come = await receive(services, bytes, medium.bytesMax, messages.tooLarge);
  const pictures: Partial<Record<'poster' | 'strip', Blob>> = {};
  for (const { role, bytes: picture } of beside)
    pictures[role] = await receive(services, picture, BESIDE_BYTES_MAX, pictureMessages.tooLarge);
  await onReceived();
  if (medium.noun === 'picture') return storePicture(services, come, { declared, metadata, userId });
  const found = await inspectStoredVideo(services, { sha256: come.sha256, path: 'a generated video' });
  if (declared) requireAsDeclared(found, declared);
  const [poster, strip] = await Promise.all([
    asPicture(services, pictures.poster),
    asPicture(services, pictures.strip),
  ]);
  return { ...found, ...come, thumbnail: poster, strip };
}

async function storePicture(
  services: Services,
  come: Blob,
  { declared, metadata, userId }: Pick<ComingOutput, 'declared' | 'metadata'> & { userId: string },
): Promise<StoredOutput> {
  const { blob, ...picture } = await withPicture(
    services,
    { sha256: come.sha256, path: 'a generated picture' },
    async ({ bytes: whole, ...found }) => {
      if (declared) requireAsDeclared(found, declared);
      const rewritten = metadata
        ? await storeWithMetadata(services, { ...found, bytes: whole }, metadata)
        : null;
      return { ...found, blob: rewritten ?? come };
    },
  );
  const thumbnail = await ensureThumbnail(services, { ...picture, ...blob }, userId);
  return { ...picture, ...blob, durationS: null, frames: null, hasAudio: null, thumbnail, strip: null };
}

/** Returns the stored picture of a video; null if there is none. Throws BadPicture for an invalid picture. */
async function asPicture(services: Services, blob: Blob | undefined): Promise<Thumbnail | null> {
  if (!blob) return null;
  const { sha256, sizeBytes } = blob;
  await withPicture(services, { sha256, path: 'a picture of a generated video' }, () => undefined);
  return { sha256, sizeBytes };
}

async function receive(
  services: Services,
  bytes: Readable,
  sizeBytesMax: number,
  tooLarge: string,
): Promise<Blob> {
  try {
    return await storeBlob(services, bytes, { sizeBytesMax });
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'payload_too_large')) throw error;
    throw new BadMedia(tooLarge, { cause: error });
  }
}

function requireAsDeclared(found: OutputShape, declared: OutputShape): void {
  const [is, said] = [found, declared].map(
    ({ mediaType, width, height }) => `${mediaType} of ${width} x ${height}`,
  );
  if (is !== said) throw new BadMedia(`the file is ${is} but was declared as ${said}`);
}

/**
 * Stores the file with embedded metadata; null if embedding fails, because the output is paid for and is then
 * stored unchanged.
 */
async function storeWithMetadata(
  services: Services,
  picture: InspectedPicture & { bytes: Buffer },
  metadata: Record<string, string>,
): Promise<Blob | null> {
  let embedded: Buffer;
  try {
    embedded = embedMetadata(picture, metadata);
  } catch (error) {
    services.log.warn({ err: error }, 'failed to embed metadata in picture');
    return null;
  }
  return storeBlob(services, Readable.from([embedded]));
}
