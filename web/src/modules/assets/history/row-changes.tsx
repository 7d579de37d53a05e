import type { RowDifferences } from '@bakehouse/contract/data-files';
import { useQuery } from '@tanstack/react-query';
import { cx } from '../../../lib/cx.ts';
import { countOf } from '../../../lib/format/count-of.ts';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { Callout } from '../../../ui/callout.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { type CommitPair, rowDifferencesQuery } from './history-calls.ts';

/** The rows of a data file that two commits do not share, the first of each kind. */
export function RowChanges({ pair, path }: { pair: CommitPair; path: string }) {
  return (
    <div className="pt-3 pb-1">
      <QueryView
        query={useQuery(rowDifferencesQuery({ ...pair, path }))}
        failed="The rows could not be compared"
        pending={<Skeleton className="h-32 w-full rounded-xl" />}
        compact
      >
        {(found) =>
          found.problem === null ? (
            <Differences found={found} />
          ) : (
            <Callout tone="info">{found.problem}</Callout>
          )
        }
      </QueryView>
    </div>
  );
}

type Cells = RowDifferences['added'][number]['values'];
type Line = { sign: '+' | '−'; at: number; values: Cells; other?: Cells };

function Differences({ found }: { found: RowDifferences }) {
  const { added, removed, changed } = found;
  const lines: Line[] = [
    ...changed.flatMap(({ before, after }): Line[] => [
      { sign: '−', ...before, other: after.values },
      { sign: '+', ...after, other: before.values },
    ]),
    ...removed.map((row): Line => ({ sign: '−', ...row })),
    ...added.map((row): Line => ({ sign: '+', ...row })),
  ];
  const count = found.added_count + found.removed_count + found.changed_count;
  const shown = added.length + removed.length + changed.length;
  return (
    <>
      <p role="status" className="mb-2 text-[0.8125rem] text-muted">
        {sentenceOf(found)}
      </p>
      {lines.length > 0 && <LinesTable columns={found.columns} lines={lines} />}
      {count > shown && (
        <p className="mt-2 text-[0.8125rem] text-muted">
          These are {formatNumber(shown)} of {countOf(count, 'row')}.
        </p>
      )}
    </>
  );
}

/** What differs, in words. Pure. */
export function sentenceOf(found: RowDifferences): string {
  const { added_count: added, removed_count: removed, changed_count: changed, key_column: key } = found;
  const rows = [
    ...(added > 0 ? [`${countOf(added, 'row')} added`] : []),
    ...(removed > 0 ? [`${countOf(removed, 'row')} removed`] : []),
    ...(changed > 0 ? [`${countOf(changed, 'row')} changed, matched by ${key}`] : []),
  ];
  const columns = [
    ...(found.added_columns.length > 0 ? [`New columns: ${found.added_columns.join(', ')}.`] : []),
    ...(found.removed_columns.length > 0 ? [`Removed columns: ${found.removed_columns.join(', ')}.`] : []),
  ];
  const told =
    key === null && added > 0 && removed > 0
      ? ['No column identifies the rows, so a changed row counts as one removed and one added.']
      : [];
  return [rows.length > 0 ? `${rows.join(', ')}.` : 'The rows are the same.', ...told, ...columns].join(' ');
}

function LinesTable({ columns, lines }: { columns: string[]; lines: Line[] }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must reach it
    <div
      tabIndex={0}
      role="region"
      aria-label="Rows that differ"
      className="max-h-[50dvh] overflow-auto rounded-xl border border-line"
    >
      <table className="w-max min-w-full border-collapse text-left text-[0.8125rem]">
        <thead className="sticky top-0 bg-surface">
          <tr className="shadow-[inset_0_-1px_0_var(--line)]">
            <th scope="col" className="px-3 py-2 font-medium text-muted text-xs">
              Row
            </th>
            {columns.map((name, at) => (
              // Names that were cut may be equal.
              <th
                key={at}
                scope="col"
                dir="auto"
                className="whitespace-nowrap px-3 py-2 text-start font-medium text-xs"
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ sign, at, values, other }) => (
            <tr
              key={`${sign}${at}`}
              className={cx('border-line border-t align-top', sign === '+' ? 'bg-good-soft' : 'bg-bad-soft')}
            >
              <th
                scope="row"
                className="whitespace-nowrap px-3 py-1.5 text-start font-mono font-normal text-muted text-xs leading-5 tabular-nums"
              >
                <span aria-hidden>{sign}</span>
                <span className="sr-only">{sign === '+' ? 'After:' : 'Before:'}</span> {formatNumber(at + 1)}
              </th>
              {values.map((value, column) => (
                <td
                  key={column}
                  dir="auto"
                  className={cx(
                    'px-3 py-1.5 text-start',
                    other && other[column] !== value && 'font-semibold',
                  )}
                >
                  {/* A wide table is scrolled, so that a row stays low on a phone. */}
                  <div className="min-w-12 max-w-64 whitespace-pre-wrap [overflow-wrap:anywhere] sm:max-w-md">
                    {value === null ? <span className="text-faint">null</span> : String(value)}
                  </div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
