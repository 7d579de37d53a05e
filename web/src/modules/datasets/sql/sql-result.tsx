import type { SqlAnswer, SqlFormat } from '@bakehouse/contract/sql';
import { ChevronLeft, ChevronRight, Download } from 'lucide-react';
import { countOf } from '../../../lib/format/count-of.ts';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Menu, MenuItem } from '../../../ui/menu.tsx';
import { RESULT_ROWS, type SqlPlace, saveResult } from './sql-calls.ts';

type Props = {
  place: SqlPlace;
  query: string;
  answer: SqlAnswer;
  offset: number;
  onOffset: (offset: number) => void;
};

/** The result of a query: one page of rows, skipped lines, and a download of all rows. */
export function SqlResult({ place, query, answer, offset, onOffset }: Props) {
  const { rows, columns, has_more: hasMore, dropped, dropped_count: droppedCount } = answer;
  const save = useMutation({
    mutationFn: (format: SqlFormat) => saveResult({ ...place, query, format }),
  });
  return (
    <Card
      flush
      title="Result"
      actions={
        <Menu
          trigger={
            <Button size="sm" loading={save.isPending}>
              <Download aria-hidden />
              Download
            </Button>
          }
        >
          <MenuItem onSelect={() => save.mutate('csv')}>CSV</MenuItem>
          <MenuItem onSelect={() => save.mutate('parquet')}>Parquet</MenuItem>
        </Menu>
      }
    >
      {droppedCount > 0 && <Dropped dropped={dropped} count={droppedCount} />}
      {rows.length === 0 ? (
        <EmptyState title="No rows" description="The query returned no rows." />
      ) : (
        <ResultTable columns={columns} rows={rows} offset={offset} />
      )}
      <Footer count={rows.length} hasMore={hasMore} offset={offset} onOffset={onOffset} />
    </Card>
  );
}

/** Maximum number of listed lines. */
const DROPPED_SHOWN = 5;

function Dropped({ dropped, count }: { dropped: SqlAnswer['dropped']; count: number }) {
  return (
    <Callout
      tone="warn"
      className="mx-5 mb-3"
      title={`${countOf(count, 'row')} could not be read and ${count === 1 ? 'was' : 'were'} left out`}
    >
      <ul>
        {dropped.slice(0, DROPPED_SHOWN).map(({ path, line, reason }) => (
          <li key={`${path} ${line}`} className="[overflow-wrap:anywhere]">
            {path}, line {formatNumber(line)}: {reason}
          </li>
        ))}
      </ul>
    </Callout>
  );
}

type FooterProps = { count: number; hasMore: boolean; offset: number; onOffset: (offset: number) => void };

function Footer({ count, hasMore, offset, onOffset }: FooterProps) {
  return (
    <footer className="flex items-center justify-between gap-3 border-line border-t px-5 py-2.5 text-compact text-muted">
      <span role="status" className="tabular-nums">
        {count === 0
          ? 'No rows'
          : `Rows ${formatNumber(offset + 1)} to ${formatNumber(offset + count)}${hasMore ? '; more follow' : ''}`}
      </span>
      <span className="flex gap-1">
        <Button
          size="icon-sm"
          variant="ghost"
          aria-label="Earlier rows"
          disabled={offset === 0}
          onClick={() => onOffset(Math.max(0, offset - RESULT_ROWS))}
        >
          <ChevronLeft aria-hidden />
        </Button>
        <Button
          size="icon-sm"
          variant="ghost"
          aria-label="Later rows"
          disabled={!hasMore}
          onClick={() => onOffset(offset + RESULT_ROWS)}
        >
          <ChevronRight aria-hidden />
        </Button>
      </span>
    </footer>
  );
}

function ResultTable({ columns, rows, offset }: Pick<SqlAnswer, 'columns' | 'rows'> & { offset: number }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must reach it
    <div tabIndex={0} role="region" aria-label="Rows of the result" className="max-h-[60dvh] overflow-auto">
      <table className="w-full border-collapse text-left text-compact">
        <thead className="sticky top-0 bg-surface">
          <tr className="align-top shadow-[inset_0_-1px_0_var(--line)]">
            {columns.map(({ name, type }, at) => (
              // Names may be equal.
              <th key={at} scope="col" className="px-3 py-2 text-start font-medium first:pl-5">
                <span dir="auto" className="block whitespace-nowrap text-ink text-xs">
                  {name}
                </span>
                <span className="block max-w-48 truncate font-normal text-2xs text-muted lowercase">
                  {type}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={offset + row} className="border-line border-t align-top">
              {cells.map((value, column) => (
                <td
                  key={column}
                  dir="auto"
                  className="min-w-24 max-w-xl whitespace-pre-wrap px-3 py-2 text-start tabular-nums [overflow-wrap:anywhere] first:pl-5"
                >
                  {value === null ? <span className="text-faint">null</span> : String(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
