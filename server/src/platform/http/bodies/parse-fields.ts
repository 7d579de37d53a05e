import type * as z from 'zod';
import { findUnstorable } from '../../db/storable-text.ts';
import { refused } from '../../errors.ts';
import { sentenceOf } from '../validation/invalid-request.ts';

/** Parses the fields that came beside a file in a multipart form, or in its place as JSON. Throws AppError 'invalid_request' naming the first that is not valid. */
export function parseFields<Schema extends z.ZodObject>(schema: Schema, fields: unknown): z.output<Schema> {
  const unstorable = findUnstorable(fields);
  if (unstorable) {
    const param = unstorable.join('.');
    throw refused(param, sentenceOf(param, 'has characters that cannot be stored'));
  }
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  // Of one that is not known, its own name.
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const param = [...(issue?.path ?? []), ...unknown].join('.');
  throw refused(param, sentenceOf(param, issue?.message ?? 'is not valid'), parsed.error);
}
