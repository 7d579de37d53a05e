/** Where the files of a model do not say how much it was made to read. */
const UNKNOWN_MAX = 32_768;
const FIRST = 2048;

/** The contexts to choose from, in tokens: powers of two up to what the model was made for, and that; `usual` is always one of them. Pure. */
export function contextChoices({ usual, max }: { usual: number; max: number | null }): number[] {
  const most = max ?? Math.max(UNKNOWN_MAX, usual);
  const choices = new Set([usual, most]);
  for (let tokens = FIRST; tokens < most; tokens *= 2) choices.add(tokens);
  return [...choices].toSorted((one, other) => one - other);
}
