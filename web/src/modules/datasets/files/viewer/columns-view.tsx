import type { ColumnStatistics, FileColumns, RowFilter } from '@bakehouse/contract/data-files';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { countOf } from '../../../../lib/format/count-of.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { QueryView } from '../../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../../ui/skeleton.tsx';
import { distinctText, filledText, rangeText, shortNumber } from './column-sentences.ts';
import { SpreadBars } from './spread-bars.tsx';
import { columnsQuery, type RevisionFile } from './viewer-calls.ts';

type OnFilter = (filter: RowFilter) => void;

/** Full statistics of each column of a file. */
export function ColumnsView({ file, onFilter }: { file: RevisionFile; onFilter: OnFilter }) {
  return (
    <QueryView
      query={useQuery(columnsQuery(file))}
      failed="The columns of this file could not be analyzed"
      flush
      pending={
        <LoadingRegion className="flex flex-col gap-4 px-5 pb-5">
          <Skeleton className="h-24 w-full" />
          <Skeleton className="h-24 w-full" />
        </LoadingRegion>
      }
    >
      {(columns) => <AllColumns columns={columns} onFilter={onFilter} />}
    </QueryView>
  );
}

type AllProps = { columns: FileColumns; onFilter: OnFilter };

function AllColumns({ columns: { rows, is_whole: isWhole, columns }, onFilter }: AllProps) {
  return (
    <>
      <p className="px-5 pb-3 text-compact text-muted">{scopeText(rows, isWhole)}</p>
      <ul className="divide-y divide-line border-line border-t">
        {columns.map((column, at) => (
          // Truncated names may be equal.
          <OneColumn key={at} column={column} rows={rows} onFilter={onFilter} />
        ))}
      </ul>
    </>
  );
}

/** Returns how many rows the statistics cover. */
export function scopeText(rows: number, isWhole: boolean): string {
  return isWhole
    ? `Based on all ${countOf(rows, 'row')}.`
    : `Based on the first ${countOf(rows, 'row')}; the file has more.`;
}

type OneProps = { column: ColumnStatistics; rows: number; onFilter: OnFilter };

function OneColumn({ column, rows, onFilter }: OneProps) {
  const range = column.numbers ?? column.lengths;
  return (
    <li className="grid gap-x-6 gap-y-3 px-5 py-4 md:grid-cols-[14rem_minmax(0,1fr)_minmax(0,1fr)]">
      <div className="min-w-0">
        <h3 dir="auto" className="font-medium [overflow-wrap:anywhere]">
          {column.name}
        </h3>
        <p className="text-muted text-xs">{column.type}</p>
        <SpreadBars column={column} onFilter={onFilter} className="mt-2 h-12 w-48" />
        <p className="mt-1 text-muted text-xs tabular-nums">{rangeText(column)}</p>
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-5 gap-y-1 self-start text-compact tabular-nums">
        <Fact label="Filled">
          {filledText(column, rows)} ({formatNumber(column.filled)})
        </Fact>
        <Fact label="Distinct">{distinctText(column)}</Fact>
        {range && <Fact label={column.numbers ? 'Mean' : 'Mean length'}>{shortNumber(range.mean)}</Fact>}
        {range && (
          <Fact label={column.numbers ? 'Median' : 'Median length'}>{shortNumber(range.median)}</Fact>
        )}
        {column.nulls > 0 && (
          <Fact label="Empty">
            <button
              type="button"
              className="underline decoration-line underline-offset-2 hover:decoration-ink"
              onClick={() => onFilter({ column: column.name, of: 'nothing' })}
            >
              {countOf(column.nulls, 'row')}
            </button>
          </Fact>
        )}
      </dl>
      {column.frequent.length > 0 && (
        <div className="min-w-0 text-compact">
          <h4 className="text-muted text-xs">Most frequent</h4>
          <ol className="mt-1 flex flex-col gap-0.5">
            {column.frequent.map(({ value, count }) => (
              <li key={value} className="flex justify-between gap-4">
                <button
                  type="button"
                  dir="auto"
                  className="truncate text-start hover:underline"
                  onClick={() => onFilter({ column: column.name, of: 'value', value })}
                >
                  {value}
                </button>
                <span className="shrink-0 text-muted tabular-nums">{countOf(count, 'row')}</span>
              </li>
            ))}
          </ol>
        </div>
      )}
    </li>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{label}</dt>
      <dd>{children}</dd>
    </>
  );
}
