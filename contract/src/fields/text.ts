import * as z from 'zod';
import { tooLong } from '../labels.ts';
import { TAG_LENGTH_MAX } from '../limits.ts';

/** Text without the spaces around it; one of more than `lengthMax` characters is refused as `field`. */
export function text(field: string, lengthMax: number) {
  return z.string().trim().max(lengthMax, tooLong(field, lengthMax));
}

/** Anything but spaces, and characters that nobody sees, e.g. of no width. */
const VISIBLE = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}]/u;

/** A name, which nothing goes without, and which can be seen. */
export function nameText(lengthMax: number) {
  return text('Name', lengthMax)
    .min(1, 'Name is required')
    .refine((name) => name === '' || VISIBLE.test(name), 'Name is required');
}

export const tags = z
  .array(text('A tag', TAG_LENGTH_MAX).min(1, 'A tag must not be empty'))
  .max(20, 'At most 20 tags');
