import * as z from 'zod';

/** An object of these fields and no others: a misspelled one is named rather than passed over. */
export function only<Fields extends z.core.$ZodShape>(fields: Fields) {
  return z.strictObject(fields, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `Unknown field${issue.keys.length === 1 ? '' : 's'}: ${issue.keys.join(', ')}`
        : undefined,
  });
}
