import * as z from 'zod';

/** Whatever a caller notes on a thing, as OpenAI bounds it. */
export const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((all) => Object.keys(all).length <= 16, 'must have at most 16 items');
