type Choice = {
  /** All that can be chosen, in the order in which they are shown. */
  shown: readonly string[];
  id: string;
  checked: boolean;
  /** The one that was chosen or left out before it: with it, all between are too. */
  from?: string | null;
};

/** What is chosen once one more is, or no longer, or all from another one to it. In the order in which they are shown. */
export function choose(chosen: readonly string[], { shown, id, checked, from }: Choice): string[] {
  const [start, end] = [shown.indexOf(from ?? id), shown.indexOf(id)];
  const range = start < 0 || end < 0 ? [id] : shown.slice(Math.min(start, end), Math.max(start, end) + 1);
  const left = new Set(chosen);
  for (const one of range) {
    if (checked) left.add(one);
    else left.delete(one);
  }
  return shown.filter((one) => left.has(one));
}
