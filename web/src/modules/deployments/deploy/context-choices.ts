/** Used if the model's files do not state its context size. */
const UNKNOWN_MAX = 32_768;
const FIRST = 2048;

/**
 * Returns the context sizes to choose from, in tokens: powers of two up to the model's maximum, that maximum,
 * and always `usual`.
 */
export function contextChoices({ usual, max }: { usual: number; max: number | null }): number[] {
  const most = max ?? Math.max(UNKNOWN_MAX, usual);
  const choices = new Set([usual, most]);
  for (let tokens = FIRST; tokens < most; tokens *= 2) choices.add(tokens);
  return [...choices].toSorted((one, other) => one - other);
}
