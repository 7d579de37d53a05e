import * as z from 'zod';

/** A boolean in a query. */
export const flag = z.stringbool().meta({
  enum: ['true', '1', 'yes', 'on', 'y', 'enabled', 'false', '0', 'no', 'off', 'n', 'disabled'],
});
