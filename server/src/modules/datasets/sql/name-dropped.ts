import type { SqlAnswer } from '@bakehouse/contract/sql';
import type { DuckDBConnection } from '@duckdb/node-api';
import { openTextTable } from '../preview/open-text-table.ts';
import { isBroken } from '../preview/table.ts';
import type { LentTables } from './lent-tables.ts';

export type DroppedLine = SqlAnswer['dropped'][number];
type LentFile = LentTables['tables'][number]['files'][number];

/** Maximum number of lines counted; a query may meet any number. */
const COUNTED_MAX = 10_000;

/** Returns the csv lines that DuckDB skipped, as far as the query has read. */
export async function nameRejected(database: DuckDBConnection, lent: LentTables): Promise<DroppedLine[]> {
  const rejected = await database
    .runAndReadAll(
      `SELECT file_path, line, first(error_message) FROM reject_errors JOIN reject_scans USING (scan_id, file_id)
       GROUP BY ALL ORDER BY ALL LIMIT ${COUNTED_MAX}`,
    )
    .catch(() => null);
  const lines = (rejected?.getRows() ?? []).map(([file, line, reason]) => ({
    path: String(file),
    line: Number(line),
    reason: reasonOf(String(reason)),
  }));
  const files = filesOf(lent).filter(({ as }) => lines.some(({ path }) => path === as));
  return nameInFiles(files, lines);
}

/** Returns the malformed JSON lines if the error reports any; else an empty list. */
export async function nameMalformed(error: unknown, lent: LentTables): Promise<DroppedLine[]> {
  const found =
    /^Invalid Input Error: (?:Malformed JSON|JSON transform error) in file "([^"]*)",? .*?in line (\d+):? ?(.*)/.exec(
      error instanceof Error ? error.message : '',
    );
  if (!found) return [];
  const [, file = '', line, reason = ''] = found;
  const said = { path: file, line: Number(line), reason: `not JSON: ${reason.replace(/[.\s]+$/, '')}` };
  return nameInFiles(
    filesOf(lent).filter(({ as }) => as === file || /\.(jsonl|ndjson|jsonlines)(\.gz)?$/i.test(as)),
    [said],
  );
}

/**
 * Our own reader knows the line in the file, while DuckDB counts rows; DuckDB's message is the fallback for
 * files that our reader cannot read.
 */
async function nameInFiles(files: LentFile[], said: DroppedLine[]): Promise<DroppedLine[]> {
  const named = await Promise.all(files.map(nameBroken));
  return named.flatMap((lines, at) => {
    const { as, path } = files[at] as LentFile;
    return lines.length > 0
      ? lines
      : said.filter((line) => line.path === as).map((line) => ({ ...line, path }));
  });
}

/** Returns the lines of a text file that our reader cannot parse, up to its byte limit. */
async function nameBroken({ as, path }: LentFile): Promise<DroppedLine[]> {
  const lines: DroppedLine[] = [];
  try {
    const { rows } = await openTextTable({ localPath: as, name: as });
    for await (const item of rows) {
      if (isBroken(item)) lines.push({ path, line: item.line, reason: item.reason });
      if (lines.length === COUNTED_MAX) break;
    }
  } catch {
    // Other encodings and larger files: use DuckDB's message.
  }
  return lines;
}

function filesOf({ tables }: LentTables): LentFile[] {
  return [...new Map(tables.flatMap(({ files }) => files).map((file) => [file.as, file])).values()];
}

function reasonOf(message: string): string {
  const [, wanted, found] = /^Expected Number of Columns: (\d+) Found: (\d+)/.exec(message) ?? [];
  if (found !== undefined) return `${found} ${found === '1' ? 'field' : 'fields'} instead of ${wanted}`;
  return message.split('\n')[0] ?? '';
}
