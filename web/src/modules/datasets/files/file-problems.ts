import type { previewFile } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { countOf } from '../../../lib/format/count-of.ts';
import { suggestFixes } from './suggest-fixes.ts';

type Preview = Pick<
  ResponseOf<typeof previewFile>,
  'columns' | 'rows' | 'total_rows' | 'broken' | 'broken_count' | 'format' | 'format_problem'
>;

/** Returns the problem of a data file as a sentence; null if training can use all of its rows. */
export function fileProblem({
  columns,
  rows,
  total_rows,
  broken,
  broken_count,
  format,
  format_problem,
}: Preview): string | null {
  if (broken_count > 0) {
    const [first] = broken;
    const fixes = suggestFixes(broken.map(({ reason }) => reason)).join(' ');
    const where = first ? ` Line ${first.line}: ${first.reason}.${fixes && ` ${fixes}`}` : '';
    return rows.length === 0
      ? `None of its rows can be read.${where}`
      : `${countOf(broken_count, 'row')} cannot be read.${where}`;
  }
  if (total_rows === 0 || rows.length === 0) {
    return columns.length > 0 ? 'It has a header but no rows.' : 'It has no rows.';
  }
  return format && format_problem;
}
