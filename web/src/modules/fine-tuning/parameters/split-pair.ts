/** Splits two lists into their common prefix and the rest of each. */
export function splitPair<Item extends object>(
  better: readonly Item[],
  worse: readonly Item[],
): { shared: Item[]; better: Item[]; worse: Item[] } {
  const differs = better.findIndex((item, at) => JSON.stringify(item) !== JSON.stringify(worse[at]));
  const count = differs === -1 ? better.length : differs;
  return { shared: better.slice(0, count), better: better.slice(count), worse: worse.slice(count) };
}
