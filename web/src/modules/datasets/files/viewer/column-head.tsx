import type { ColumnStatistics, RowFilter } from '@bakehouse/contract/data-files';
import { Skeleton } from '../../../../ui/skeleton.tsx';
import { filledText, rangeText } from './column-sentences.ts';
import { SpreadBars } from './spread-bars.tsx';

type Props = {
  name: string;
  /** Undefined while loading; null if unknown. */
  column: ColumnStatistics | null | undefined;
  /** Number of analyzed rows. */
  rows: number;
  onFilter: (filter: RowFilter) => void;
};

/** The name of a column with a summary of its values. */
export function ColumnHead({ name, column, rows, onFilter }: Props) {
  return (
    <div className="flex flex-col gap-1 py-2">
      <span dir="auto" className="whitespace-nowrap text-ink text-xs">
        {name}
      </span>
      {column === undefined && <Skeleton className="h-13 w-28" />}
      {column && (
        <div className="flex h-13 w-28 flex-col font-normal text-2xs text-muted">
          <SpreadBars column={column} onFilter={onFilter} className="h-5" />
          <span className="mt-1 truncate leading-3.5">{rangeText(column)}</span>
          <span className="truncate leading-3.5">
            {column.type}
            {column.filled < rows && column.type !== 'empty' && `, ${filledText(column, rows)} filled`}
          </span>
        </div>
      )}
    </div>
  );
}
