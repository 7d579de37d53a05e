import { AppError } from './errors.ts';

/** Returns the error for a cursor that the list has not issued. */
export function unknownCursor(cause?: unknown): AppError {
  return new AppError('invalid_request', {
    publicMessage: 'cursor must be the next_cursor of an earlier page of this list',
    param: 'cursor',
    cause,
  });
}
