import type { Generation } from '@bakehouse/contract/generations';

type Neighbours = { before: Generation | undefined; after: Generation | undefined };

/** Returns the generations before and after one, from the longest list that contains it. */
export function neighboursOf(lists: readonly (readonly Generation[])[], id: string): Neighbours {
  const placeIn = (list: readonly Generation[]) => list.findIndex((one) => one.id === id);
  const [list] = lists.filter((one) => placeIn(one) >= 0).toSorted((one, other) => other.length - one.length);
  if (!list) return { before: undefined, after: undefined };
  const at = placeIn(list);
  return { before: list[at - 1], after: list[at + 1] };
}
