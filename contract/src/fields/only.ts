import * as z from 'zod';

/** Returns an object schema that rejects unknown fields and names them. */
export function only<Fields extends z.core.$ZodShape>(fields: Fields) {
  return z.strictObject(fields, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `Unknown field${issue.keys.length === 1 ? '' : 's'}: ${issue.keys.join(', ')}`
        : undefined,
  });
}
