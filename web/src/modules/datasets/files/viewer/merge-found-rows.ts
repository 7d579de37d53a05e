import type { FoundRows } from '@bakehouse/contract/data-files';

/** Joins the results of consecutive searches of a file. */
export function mergeFoundRows(looks: readonly [FoundRows, ...FoundRows[]]): FoundRows {
  // The last search read the most rows, so it knows all columns.
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
