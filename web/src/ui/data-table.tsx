import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type ReactNode, type RefObject, useRef } from 'react';
import { cx } from '../lib/cx.ts';
import { useRowHeight } from '../lib/density.ts';
import { hasTextSelection } from '../lib/device/has-text-selection.ts';
import { usePageOffset } from './use-page-offset.ts';

export type Column<Row> = {
  id: string;
  header: ReactNode;
  cell: (row: Row) => ReactNode;
  /** Right-aligned with tabular figures. */
  numeric?: boolean;
  /** CSS width. The column without a width takes the remaining space. */
  width?: string;
  sortable?: boolean;
  /** Hidden on screens narrower than this. */
  hideBelow?: 'sm' | 'md' | 'lg';
  /** Cells contain a control; a press that misses it doesn't open the row. */
  control?: boolean;
};

export type Sort = { column: string; descending: boolean };

type Props<Row> = {
  /** Accessible name of the table. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  onRowClick?: (row: Row) => void;
  sort?: Sort;
  onSortChange?: (sort: Sort) => void;
  /** More rows exist on the server; the total is unknown. */
  more?: boolean;
  /** Minimum row height in pixels, smaller if the user chose compact tables. */
  rowHeight?: number;
};

const VIRTUAL_FROM = 100;
const hidden = { sm: 'max-sm:hidden', md: 'max-md:hidden', lg: 'max-lg:hidden' };

/** A dense table that scrolls with the page. Virtualized from 100 rows. */
export function DataTable<Row>({
  label,
  columns,
  rows,
  rowKey,
  onRowClick,
  sort,
  onSortChange,
  more = false,
  ...rest
}: Props<Row>) {
  const rowHeight = useRowHeight(rest.rowHeight ?? 44);
  const body = useRef<HTMLTableSectionElement>(null);
  const { visible, above, below, measure } = useRowsInSight(body, { rows, rowHeight });
  return (
    <div
      role="region"
      aria-label={label}
      // Wide screens never need horizontal scrolling, so the header can be sticky.
      className="relative overflow-x-auto rounded-xl lg:overflow-clip"
    >
      <table
        className="w-full border-collapse text-left"
        aria-rowcount={more ? -1 : measure ? rows.length + 1 : undefined}
      >
        <thead className="bg-surface lg:sticky lg:top-14 lg:z-10">
          <tr>
            {columns.map((column, place) => (
              <HeaderCell
                key={column.id}
                column={column}
                padding={edgePadding(columns, place)}
                sort={sort}
                onSortChange={onSortChange}
              />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {above > 0 && <tr aria-hidden style={{ height: above }} />}
          {visible.map(({ row, index }) => (
            <tr
              key={rowKey(row)}
              ref={measure}
              data-index={index}
              aria-rowindex={measure || more ? index + 2 : undefined}
              // The link in the row serves keyboard users; clicking the row is a shortcut for the pointer.
              onClick={
                onRowClick && ((event) => !isControl(event.target) && !hasTextSelection() && onRowClick(row))
              }
              className={cx('border-line not-first:border-t', onRowClick && 'cursor-pointer hover:bg-subtle')}
            >
              {columns.map((column, place) => (
                <td
                  key={column.id}
                  data-control={column.control}
                  style={{ height: rowHeight }}
                  className={cx('px-3 py-1', edgePadding(columns, place), cellClass(column))}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {below > 0 && <tr aria-hidden style={{ height: below }} />}
        </tbody>
      </table>
    </div>
  );
}

/** Returns the rendered rows and the pixel heights above and below them. Short lists render all rows. */
function useRowsInSight<Row>(
  body: RefObject<HTMLElement | null>,
  { rows, rowHeight }: { rows: readonly Row[]; rowHeight: number },
) {
  const top = usePageOffset(body);
  const virtual = rows.length >= VIRTUAL_FROM;
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    scrollMargin: top,
    overscan: 12,
    enabled: virtual,
  });
  if (!virtual) return { visible: rows.map((row, index) => ({ row, index })), above: 0, below: 0 };
  const items = virtualizer.getVirtualItems();
  return {
    visible: items.map(({ index }) => ({ row: rows[index] as Row, index })),
    above: (items[0]?.start ?? top) - top,
    below: virtualizer.getTotalSize() - ((items.at(-1)?.end ?? top) - top),
    /** Measures each row's actual height. */
    measure: virtualizer.measureElement,
  };
}

function HeaderCell<Row>({
  column,
  padding,
  sort,
  onSortChange,
}: { column: Column<Row>; padding: string } & Pick<Props<Row>, 'sort' | 'onSortChange'>) {
  const active = sort?.column === column.id;
  const sortable = column.sortable && onSortChange;
  return (
    <th
      scope="col"
      style={{ width: column.width }}
      aria-sort={active ? (sort.descending ? 'descending' : 'ascending') : undefined}
      className={cx(
        'h-9 whitespace-nowrap px-3 font-medium text-muted text-xs shadow-[inset_0_-1px_0_var(--line)]',
        padding,
        cellClass(column),
      )}
    >
      {sortable ? (
        <button
          type="button"
          onClick={() => onSortChange({ column: column.id, descending: active ? !sort.descending : false })}
          className={cx(
            '-mx-1 inline-flex items-center gap-1 rounded px-1 hover:text-ink',
            active && 'text-ink',
          )}
        >
          {column.header}
          {active &&
            (sort.descending ? (
              <ArrowDown aria-hidden className="size-3" />
            ) : (
              <ArrowUp aria-hidden className="size-3" />
            ))}
        </button>
      ) : (
        column.header
      )}
    </th>
  );
}

/** Returns the classes of a column's header and body cells. */
function cellClass({
  numeric,
  control,
  hideBelow,
}: Pick<Column<never>, 'numeric' | 'control' | 'hideBelow'>): string {
  return cx(numeric && 'text-right tabular-nums', control && 'relative', hideBelow && hidden[hideBelow]);
}

type HideBelow = Pick<Column<never>, 'hideBelow'>;

const leftEdge = { sm: 'max-sm:pl-5', md: 'max-md:pl-5', lg: 'max-lg:pl-5' };
const rightEdge = { sm: 'max-sm:pr-5', md: 'max-md:pr-5', lg: 'max-lg:pr-5' };

/** Adds padding at the outer edges, including columns that become outermost when neighbours are hidden. */
function edgePadding(columns: readonly HideBelow[], place: number): string {
  const before = columns.slice(0, place);
  const after = columns.slice(place + 1);
  return cx(
    before.length === 0 ? 'pl-5' : edge(leftEdge, before),
    after.length === 0 ? 'pr-5' : edge(rightEdge, after),
  );
}

function edge(classes: typeof leftEdge, neighbours: readonly HideBelow[]): string | null {
  const width = allHiddenBelow(neighbours);
  return width && classes[width];
}

/** Returns the width below which all columns are hidden, or null if some are always visible. */
function allHiddenBelow(columns: readonly HideBelow[]): 'sm' | 'md' | 'lg' | null {
  const widths = ['sm', 'md', 'lg'] as const;
  const narrowest = Math.min(...columns.map(({ hideBelow }) => (hideBelow ? widths.indexOf(hideBelow) : -1)));
  return widths[narrowest] ?? null;
}

const CONTROLS = 'a, button, input, label, [role="button"], [role="menuitem"], [data-control]';

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest(CONTROLS) !== null;
}
