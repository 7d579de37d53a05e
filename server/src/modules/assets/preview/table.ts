/** A row that could be read, by its columns. */
export type Row = { line: number; values: Record<string, unknown> };

/** A row that could not. `line` is where it starts, from 1; in Parquet the row's number. */
export type Broken = { line: number; reason: string };

/**
 * A data file while it is read. `columns` of csv and Parquet are complete at once, those of jsonl
 * and json grow with the rows, as in the runtime's reader, whose words for broken rows these are.
 */
export type Table = { columns: string[]; rows: AsyncIterable<Row | Broken> };

export function isBroken(item: Row | Broken): item is Broken {
  return 'reason' in item;
}
