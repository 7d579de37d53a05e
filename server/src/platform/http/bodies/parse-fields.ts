import type * as z from 'zod';
import { findUnstorable } from '../../db/storable-text.ts';
import { refused } from '../../errors.ts';
import { sentenceOf } from '../validation/invalid-request.ts';

/**
 * Parses fields sent with a file in a multipart form, or as JSON instead of it. Throws AppError
 * 'invalid_request' naming the first invalid field.
 */
export function parseFields<Schema extends z.ZodObject>(schema: Schema, fields: unknown): z.output<Schema> {
  const unstorable = findUnstorable(fields);
  if (unstorable) {
    const param = unstorable.join('.');
    throw refused(param, sentenceOf(param, 'has characters that cannot be stored'));
  }
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  // For an unknown field, its own name.
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const param = [...(issue?.path ?? []), ...unknown].join('.');
  throw refused(param, sentenceOf(param, issue?.message ?? 'is not valid'), parsed.error);
}
