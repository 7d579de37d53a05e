import { AppError } from '../errors.ts';

/** More or fewer bytes of a part have come than it has. */
export function wrongSize(sizeBytes: number, came: string): AppError {
  return new AppError('invalid_request', {
    publicMessage: `This part has to have ${sizeBytes} bytes, and ${came} came`,
  });
}
