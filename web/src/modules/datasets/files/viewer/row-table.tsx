import type { filePreview } from '@bakehouse/contract/assets';
import type { FileColumns, RowFilter } from '@bakehouse/contract/data-files';
import { useEffect, useRef } from 'react';
import type * as z from 'zod';
import { cx } from '../../../../lib/cx.ts';
import { hasTextSelection } from '../../../../lib/device/has-text-selection.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Conversation } from '../../../../ui/conversation.tsx';
import { Skeleton } from '../../../../ui/skeleton.tsx';
import { ColumnHead } from './column-head.tsx';
import { type RowChange, type RowChanges, shownText } from './editing/row-changes.ts';
import type { Pictures } from './use-pictures.ts';

type Preview = z.output<typeof filePreview>;
type Cells = Preview['rows'][number];

type TableProps = {
  preview: Pick<Preview, 'columns' | 'rows' | 'format' | 'conversations'>;
  /** Index of each row in the file. */
  numbers: readonly number[];
  /** Other rows are loading. */
  isBusy: boolean;
  /** Undefined while loading; null if unknown. */
  described: FileColumns | null | undefined;
  onRow: (at: number) => void;
  onFilter: (filter: RowFilter) => void;
  /** Returns the thumbnail in a cell. */
  pictureOf?: Pictures['pictureOf'];
  /** Unsaved changes. */
  changes?: RowChanges;
  /** Shows the new rows of `changes` after the others. */
  withNew?: boolean;
};

/** Rows of a data file below its column names. */
export function RowTable({
  preview,
  numbers,
  isBusy,
  described,
  onRow,
  onFilter,
  pictureOf,
  changes,
  withNew = false,
}: TableProps) {
  const region = useRef<HTMLDivElement>(null);
  const [first] = numbers;
  // Scrolls up when the page of rows changes.
  useEffect(() => {
    // Don't return the result: in newer browsers it is a promise, not a clean-up function.
    region.current?.scrollTo({ top: 0 });
  }, [first]);
  const { columns, rows, format, conversations } = preview;
  const dialogueAt = conversations.length > 0 && format ? columns.indexOf(format.input_column) : -1;
  return (
    <div
      ref={region}
      tabIndex={0}
      role="region"
      aria-label="Rows"
      aria-busy={isBusy}
      className="max-h-[60dvh] overflow-auto"
    >
      <table className="w-full border-collapse text-left text-compact">
        <thead className="sticky top-0 bg-surface">
          <tr className="align-top shadow-[inset_0_-1px_0_var(--line)]">
            <th scope="col" className="w-14 px-3 py-2 pl-5 text-right font-medium text-muted text-xs">
              Row
            </th>
            {columns.map((column, at) => (
              // Truncated names may be equal.
              <th key={at} scope="col" className="px-3 text-start font-medium">
                <ColumnHead
                  name={column}
                  column={described && (described.columns[at] ?? null)}
                  rows={described?.rows ?? 0}
                  onFilter={onFilter}
                />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, index) => (
            <Row
              key={numbers[index]}
              at={numbers[index] ?? index}
              cells={cells}
              dialogueAt={dialogueAt}
              conversation={conversations[index]}
              onRow={onRow}
              pictureOf={(column) => (pictureOf ? pictureOf(column, index) : null)}
              columns={columns}
              change={changes?.get(numbers[index] ?? index)}
            />
          ))}
          {withNew && <NewRows columns={columns} changes={changes} onRow={onRow} />}
        </tbody>
      </table>
    </div>
  );
}

function NewRows({ columns, changes, onRow }: Pick<TableProps, 'changes' | 'onRow'> & { columns: string[] }) {
  const added: RowChange[] = [...(changes?.values() ?? [])].filter(({ at }) => at < 0);
  return added.map((change) => (
    <Row
      key={change.at}
      at={change.at}
      cells={columns.map(() => null)}
      dialogueAt={-1}
      conversation={undefined}
      onRow={onRow}
      pictureOf={() => null}
      columns={columns}
      change={change}
    />
  ));
}

type RowProps = {
  at: number;
  cells: Cells;
  /** Index of the conversation's cell; -1 for none. */
  dialogueAt: number;
  conversation: Preview['conversations'][number] | undefined;
  onRow: (at: number) => void;
  /** Returns the thumbnail in a cell; undefined while loading. */
  pictureOf: (column: number) => string | null | undefined;
  columns: readonly string[];
  change: RowChange | undefined;
};

function Row({ at, cells, dialogueAt, conversation, onRow, pictureOf, columns, change }: RowProps) {
  const isDeleted = change?.cells === null;
  const name = at < 0 ? 'the new row' : `row ${formatNumber(at + 1)}`;
  return (
    <tr
      className={cx(
        'cursor-pointer border-line border-t align-top hover:bg-hover',
        isDeleted && 'bg-bad-soft text-muted line-through',
      )}
      onClick={() => !hasTextSelection() && onRow(at)}
    >
      <td className="px-3 py-2 pl-5 text-right text-muted tabular-nums">
        <button
          type="button"
          aria-label={`Show ${name}${isDeleted ? ', deleted' : ''}`}
          className="rounded hover:underline"
          // Works also while text is selected.
          onClick={(event) => {
            event.stopPropagation();
            onRow(at);
          }}
        >
          {at < 0 ? 'New' : formatNumber(at + 1)}
        </button>
      </td>
      {cells.map((value, column) => {
        const changed = change?.cells?.[columns[column] ?? ''];
        return (
          <td
            key={column}
            dir="auto"
            className={cx(
              changed !== undefined && 'bg-warn-soft',
              'max-w-xl whitespace-pre-wrap px-3 py-2 text-start [overflow-wrap:anywhere]',
              column === dialogueAt ? 'min-w-72' : 'min-w-40',
            )}
          >
            {changed === undefined ? (
              <Cell
                value={value}
                conversation={column === dialogueAt ? conversation : undefined}
                picture={pictureOf(column)}
              />
            ) : (
              <Cell value={shownText(changed)} conversation={undefined} picture={null} />
            )}
          </td>
        );
      })}
    </tr>
  );
}

type CellProps = {
  value: Cells[number];
  conversation: Preview['conversations'][number] | undefined;
  picture: string | null | undefined;
};

function Cell({ value, conversation, picture }: CellProps) {
  if (picture === undefined) return <Skeleton className="size-16 rounded-md" />;
  if (picture !== null) return <img src={picture} alt="" className="max-h-16 max-w-24 rounded-md" />;
  if (conversation && conversation.turns.length > 0) {
    const { turns, turn_count: count } = conversation;
    return <Conversation turns={turns} more={count - turns.length} isCut />;
  }
  if (value === null) return <span className="text-faint">empty</span>;
  // Clamped, so that long text in an off-screen column does not make the row tall.
  return <span className="line-clamp-5">{String(value)}</span>;
}
