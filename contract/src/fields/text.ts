import * as z from 'zod';
import { tooLong } from '../labels.ts';
import { TAG_LENGTH_MAX } from '../limits.ts';

/** Text without the spaces around it; one of more than `lengthMax` characters is refused as `field`. */
export function text(field: string, lengthMax: number) {
  return z.string().trim().max(lengthMax, tooLong(field, lengthMax));
}

/** A character that somebody sees: no space, control or formatting character, and none without a width. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\u3164\uFFA0]/u;

/** Near enough, for who reads OpenAPI: few regular expressions outside of JavaScript know the classes of Unicode. */
const VISIBLE_IN_OPENAPI = '[^\\s\\u0000-\\u001F\\u007F-\\u009F\\u00AD]';

/** A name, which nothing goes without, and which can be seen. */
export function nameText(lengthMax: number) {
  return text('Name', lengthMax)
    .min(1, 'Name is required')
    .regex(VISIBLE, 'Name is required')
    .meta({ pattern: VISIBLE_IN_OPENAPI });
}

export const tags = z
  .array(text('A tag', TAG_LENGTH_MAX).min(1, 'A tag must not be empty'))
  .max(20, 'At most 20 tags');
