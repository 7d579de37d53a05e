import type { FileColumns } from '@bakehouse/contract/data-files';
import { ROWS_LOOKED_AT_MAX, readParquet } from '../read-parquet.ts';
import { endingOf, NAME_CHARS_MAX, openTextTable } from '../read-preview.ts';
import { cut, isBroken, type Table } from '../table.ts';
import { countColumn } from './count-column.ts';

/** What is looked at: so many rows, cells and characters. It takes seconds and some hundred MB. */
export const ROWS_MAX = 100_000;
const CELLS_MAX = 1_000_000;
const CHARS_MAX = 32 * 1024 * 1024;

/**
 * What the columns of a data file hold, by its first rows. Throws Unreadable as the preview does. The file is not
 * trusted: run it with limits.
 */
export async function readColumns(file: { localPath: string; name: string }): Promise<FileColumns> {
  const ending = endingOf(file.name);
  if (ending !== 'parquet') return count(await openTextTable(file), ending === 'csv' || ending === 'tsv');
  const limit = ROWS_LOOKED_AT_MAX;
  const { totalRows, ...table } = await readParquet(file.localPath, file.name, { offset: 0, limit });
  const counted = await count(table, false);
  return { ...counted, is_whole: counted.rows === totalRows };
}

async function count({ columns, rows }: Table, isCsv: boolean): Promise<FileColumns> {
  const counters: ReturnType<typeof countColumn>[] = [];
  let counted = 0;
  let cells = 0;
  let chars = 0;
  let isWhole = true;
  for await (const item of rows) {
    if (isBroken(item)) continue;
    if (counted === ROWS_MAX || cells >= CELLS_MAX || chars >= CHARS_MAX) {
      isWhole = false;
      break;
    }
    counted += 1;
    cells += item.values.length;
    for (const [at, value] of item.values.entries()) {
      const counter = (counters[at] ??= countColumn(isCsv));
      counter.add(value);
      if (typeof value === 'string') chars += value.length;
    }
  }
  return {
    rows: counted,
    is_whole: isWhole,
    columns: columns.shown.map((name, at) => ({
      name: cut(name, NAME_CHARS_MAX),
      ...(counters[at] ?? countColumn(isCsv)).result(),
    })),
  };
}
