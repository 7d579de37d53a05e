import type { Generation } from '@bakehouse/contract/generations';

/** A picture with its edits. */
export type Edited = { generation: Generation; edits: Edited[] };

/**
 * Returns the edit trees, oldest first: each generation nests under its source, or becomes a root if its
 * source is not in the list.
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
