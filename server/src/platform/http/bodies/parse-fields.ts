import type * as z from 'zod';
import { findUnstorable } from '../../db/storable-text.ts';
import { AppError } from '../../errors.ts';
import { sentenceOf } from '../send-error.ts';

/** The fields of a multipart form, which came beside a file. Throws AppError 'invalid_request' with the first that does not fit. */
export function parseFields<Schema extends z.ZodObject>(
  schema: Schema,
  fields: Record<string, string>,
): z.output<Schema> {
  const unstorable = findUnstorable(fields);
  if (unstorable) throw refused(unstorable.join('.'), 'has characters that cannot be stored');
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refused(issue?.path.join('.') ?? '', issue?.message ?? 'is not valid', parsed.error);
}

function refused(param: string, message: string, cause?: unknown): AppError {
  return new AppError('invalid_request', { publicMessage: sentenceOf(param, message), param, cause });
}
