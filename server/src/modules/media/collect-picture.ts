import { PICTURE_BYTES_MAX, pictureMessages } from '@bakehouse/contract/media';
import { AppError } from '../../platform/errors.ts';

/**
 * Collects the bytes of a streamed picture. Throws AppError with the field name: 'payload_too_large' as soon
 * as the limit is exceeded, 'invalid_request' if the stream breaks off.
 */
export async function collectPicture(pieces: AsyncIterable<Buffer>, param: string): Promise<Buffer> {
  const collected: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > PICTURE_BYTES_MAX)
        throw new AppError('payload_too_large', { publicMessage: pictureMessages.tooLarge, param });
      collected.push(piece);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    const publicMessage = 'The upload stopped before the picture was complete';
    throw new AppError('invalid_request', { publicMessage, param, cause: error });
  }
  return Buffer.concat(collected);
}
