type Choice = {
  /** All selectable ids in display order. */
  shown: readonly string[];
  id: string;
  checked: boolean;
  /** The previously toggled id: everything between it and `id` is toggled too. */
  from?: string | null;
};

/** Returns the selection after toggling one id or a range, in display order. */
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
