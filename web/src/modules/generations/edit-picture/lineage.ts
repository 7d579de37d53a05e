import type { Generation } from '@bakehouse/contract/generations';

/** A picture with what was made from it. */
export type Edited = { generation: Generation; edits: Edited[] };

/**
 * The trees that these generations are, oldest first: each hangs under the one it was made from; one whose source is not
 * among them begins a tree. Pure.
 */
export function lineageOf(generations: readonly Generation[]): Edited[] {
  const oldestFirst = [...generations].sort((one, other) => one.created_at.localeCompare(other.created_at));
  const nodes = new Map(
    oldestFirst.map((generation): [string, Edited] => [generation.id, { generation, edits: [] }]),
  );
  const roots: Edited[] = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.generation.source?.generation_id ?? '');
    (parent?.edits ?? roots).push(node);
  }
  return roots;
}
