import { Readable } from 'node:stream';
import { pictureMessages } from '@bakehouse/contract/media';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { BadPicture, type InspectedPicture } from '../../media/inspect-picture.ts';
import { embedMetadata } from '../../media/metadata/embed-metadata.ts';
import { makeThumbnail } from '../../media/thumbnails/make-thumbnail.ts';
import { withPicture } from '../../media/with-picture.ts';
import type { Medium } from '../media-table.ts';
import type { ComingOutput, StoredOutput } from './attempt.ts';

type Options = {
  userId: string;
  medium: Pick<Medium, 'bytesMax'>;
  /** Called once it is all here, and before it is looked at: what it is may end this process. */
  onCome: () => Promise<void>;
};

/**
 * Streams an output into the store, and looks at what is there; it is collected unless a row keeps it soon. Throws BadPicture
 * for what is too large, no whole picture, or not what it is said to be; what its bytes throw, and `onCome`.
 */
export async function storeOutput(
  services: Services,
  { bytes, declared, durationS, metadata }: ComingOutput,
  { userId, medium, onCome }: Options,
): Promise<StoredOutput> {
  const come = await receive(services, bytes, medium.bytesMax);
  await onCome();
  const { blob, ...picture } = await withPicture(
    services,
    { sha256: come.sha256, path: 'a generated picture' },
    async ({ bytes: whole, ...found }) => {
      if (declared) requireAsDeclared(found, declared);
      const anew = metadata ? await storeWithMetadata(services, { ...found, bytes: whole }, metadata) : null;
      return { ...found, blob: anew ?? come };
    },
  );
  const thumbnail = await makeThumbnail(services, { ...picture, ...blob }, userId);
  return { ...picture, ...blob, durationS, thumbnail };
}

async function receive(services: Services, bytes: Readable, sizeBytesMax: number): Promise<Blob> {
  try {
    return await storeBlob(services, bytes, { sizeBytesMax });
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'payload_too_large')) throw error;
    throw new BadPicture(pictureMessages.tooLarge, { cause: error });
  }
}

function requireAsDeclared(found: InspectedPicture, declared: InspectedPicture): void {
  const [is, said] = [found, declared].map(
    ({ mediaType, width, height }) => `${mediaType} of ${width} x ${height}`,
  );
  if (is !== said) throw new BadPicture(`the picture is ${is}, and is said to be ${said}`);
}

/** The same file with what made it written inside; null where it takes nothing in: it is paid for, and stays as it came. */
async function storeWithMetadata(
  services: Services,
  picture: InspectedPicture & { bytes: Buffer },
  metadata: Record<string, string>,
): Promise<Blob | null> {
  let embedded: Buffer;
  try {
    embedded = embedMetadata(picture, metadata);
  } catch (error) {
    services.log.warn({ err: error }, 'the parameters of a picture could not be written into its file');
    return null;
  }
  return storeBlob(services, Readable.from([embedded]));
}
