import { AppError } from './errors.ts';

/** What a list answers to a cursor that it has not given. */
export function unknownCursor(cause?: unknown): AppError {
  return new AppError('invalid_request', {
    publicMessage: 'cursor must be the next_cursor of an earlier page of this list',
    param: 'cursor',
    cause,
  });
}
