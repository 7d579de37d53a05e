import { PICTURE_BYTES_MAX, pictureMessages } from '@bakehouse/contract/media';
import { AppError } from '../../platform/errors.ts';

/**
 * The bytes of a picture that comes in pieces. Throws AppError with the field that it comes in: 'payload_too_large' as soon
 * as there are more than a picture may have, 'invalid_request' where it breaks off.
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
