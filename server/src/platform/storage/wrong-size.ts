import { AppError } from '../errors.ts';

/** Returns the error for a part with more or fewer bytes than announced. */
export function wrongSize(sizeBytes: number, came: string): AppError {
  return new AppError('invalid_request', {
    publicMessage: `This part has to have ${sizeBytes} bytes, and ${came} came`,
  });
}
