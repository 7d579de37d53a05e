import * as z from 'zod';

/** Metadata that callers may choose freely, within OpenAI's limits. */
export const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((all) => Object.keys(all).length <= 16, 'must have at most 16 items');
