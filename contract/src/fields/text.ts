import * as z from 'zod';
import { tooLong } from '../labels.ts';
import { TAG_LENGTH_MAX } from '../limits.ts';

/** Returns the schema of trimmed text of at most `lengthMax` characters; the error names `field`. */
export function text(field: string, lengthMax: number) {
  return z.string().trim().max(lengthMax, tooLong(field, lengthMax));
}

/** At least one visible character, so not only spaces, control, formatting or zero-width characters. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\u3164\uFFA0]/u;

/** Approximation of that pattern for OpenAPI: few other languages support Unicode classes. */
const VISIBLE_IN_OPENAPI = '[^\\s\\u0000-\\u001F\\u007F-\\u009F\\u00AD]';

/** Returns the schema of a required, visible name. */
export function nameText(lengthMax: number) {
  return text('Name', lengthMax)
    .min(1, 'Name is required')
    .regex(VISIBLE, 'Name is required')
    .meta({ pattern: VISIBLE_IN_OPENAPI });
}

export const tags = z
  .array(text('A tag', TAG_LENGTH_MAX).min(1, 'A tag must not be empty'))
  .max(20, 'At most 20 tags');
