import type { FoundRows } from '@bakehouse/contract/data-files';

/** What several looks into a file have found, one after the other, as one. Pure. */
export function joinFound(looks: readonly [FoundRows, ...FoundRows[]]): FoundRows {
  // The last one has gone furthest: it knows all columns that were seen before.
  const last = looks.at(-1) ?? looks[0];
  const { length } = last.columns;
  return {
    ...last,
    rows: looks.flatMap(({ rows }) =>
      rows.map((cells) => [...cells, ...Array.from({ length: length - cells.length }, () => null)]),
    ),
    at: looks.flatMap(({ at }) => at),
    conversations: looks.flatMap(({ conversations }) => conversations),
  };
}
