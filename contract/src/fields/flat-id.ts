import * as z from 'zod';

/**
 * An id as OpenAI writes them: a word, and that of the thing without its hyphens. `noun` names the
 * thing where a text is no such id: 'No file has this id'.
 */
export const flatId = (prefix: string, noun: string) =>
  z.string().regex(new RegExp(`^${prefix}[0-9a-f]{32}$`), `No ${noun} has this id`);

/** The id of OpenAI's kind for an id of ours. */
export function toFlatId(prefix: string, id: string): string {
  return prefix + id.replaceAll('-', '');
}

/** Back from it. */
export function fromFlatId(flat: string): string {
  const digits = flat.slice(-32);
  return [8, 12, 16, 20, 32].map((end, index, ends) => digits.slice(ends[index - 1] ?? 0, end)).join('-');
}
