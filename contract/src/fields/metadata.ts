import * as z from 'zod';

/** Arbitrary metadata of the caller, with OpenAI's limits. */
export const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((all) => Object.keys(all).length <= 16, 'must have at most 16 items');
