import type { filePreview } from '@bakehouse/contract/assets';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type * as z from 'zod';
import { countOf } from '../../../../lib/format/count-of.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Button } from '../../../../ui/button.tsx';
import { controlClass } from '../../../../ui/control-class.ts';
import { PREVIEW_ROWS, pageStart } from './rows-location.ts';

type FooterProps = {
  preview: z.output<typeof filePreview>;
  /** Number of rows, if known. */
  total: number | null;
  /** Offsets of the displayed rows and of the requested rows. */
  offset: number;
  asked: number;
  onOffset: (offset: number) => void;
};

/** The displayed rows, and buttons to other pages. */
export function RowsFooter({ preview, total, offset, asked, onOffset }: FooterProps) {
  const { columns, column_count: columnCount, rows } = preview;
  return (
    <footer className="flex flex-wrap items-center justify-between gap-x-3 gap-y-2 border-line border-t px-5 py-2.5 text-compact text-muted">
      <span className="tabular-nums">
        {rows.length === 0
          ? 'No rows'
          : `Rows ${formatNumber(offset + 1)} to ${formatNumber(offset + rows.length)}`}
        {total !== null && ` of ${formatNumber(total)}`}
        {columnCount > columns.length &&
          `, the first ${formatNumber(columns.length)} of ${countOf(columnCount, 'column')}`}
      </span>
      <span className="flex items-center gap-1">
        {(total === null || total > PREVIEW_ROWS) && (
          <GoToRow total={total} onRow={(row) => onOffset(pageStart(row))} />
        )}
        <Button
          size="icon-sm"
          variant="ghost"
          aria-label="Earlier rows"
          disabled={asked === 0}
          onClick={() => onOffset(Math.max(0, asked - PREVIEW_ROWS))}
        >
          <ChevronLeft aria-hidden />
        </Button>
        <Button
          size="icon-sm"
          variant="ghost"
          aria-label="Later rows"
          disabled={rows.length < PREVIEW_ROWS || (total !== null && asked + PREVIEW_ROWS >= total)}
          onClick={() => onOffset(asked + PREVIEW_ROWS)}
        >
          <ChevronRight aria-hidden />
        </Button>
      </span>
    </footer>
  );
}

/** A field for a row number, from 1; Enter opens its page. */
function GoToRow({ total, onRow }: { total: number | null; onRow: (row: number) => void }) {
  const [typed, setTyped] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const row = Number(typed.replaceAll(/[,.\s]/g, ''));
        if (!Number.isSafeInteger(row) || row < 1) return;
        setTyped('');
        onRow(Math.min(row, total ?? row) - 1);
      }}
    >
      <input
        aria-label="Go to row"
        placeholder="Go to row"
        inputMode="numeric"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        className={controlClass('h-7 w-28 px-2 text-compact tabular-nums')}
      />
    </form>
  );
}
