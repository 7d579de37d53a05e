import * as z from 'zod';

/**
 * Returns the schema of an id in OpenAI's format: a prefix, and the UUID without hyphens. The error contains
 * `noun`, as in 'No file has this id'.
 */
export const flatId = (prefix: string, noun: string) =>
  z.string().regex(new RegExp(`^${prefix}[0-9a-f]{32}$`), `No ${noun} has this id`);

/** Converts a UUID to OpenAI's format. */
export function toFlatId(prefix: string, id: string): string {
  return prefix + id.replaceAll('-', '');
}

/** Converts an id in OpenAI's format back to a UUID. */
export function fromFlatId(flat: string): string {
  const digits = flat.slice(-32);
  return [8, 12, 16, 20, 32].map((end, index, ends) => digits.slice(ends[index - 1] ?? 0, end)).join('-');
}
