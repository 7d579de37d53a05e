import type { Generation } from '@bakehouse/contract/generations';

type Neighbours = { before: Generation | undefined; after: Generation | undefined };

/** What stands before and after a generation in the longest of the lists that hold it. */
export function neighboursOf(lists: readonly (readonly Generation[])[], id: string): Neighbours {
  const placeIn = (list: readonly Generation[]) => list.findIndex((one) => one.id === id);
  const [list] = lists.filter((one) => placeIn(one) >= 0).toSorted((one, other) => other.length - one.length);
  if (!list) return { before: undefined, after: undefined };
  const at = placeIn(list);
  return { before: list[at - 1], after: list[at + 1] };
}
