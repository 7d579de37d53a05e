import { Card } from './card.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { PagedList, type PagedListProps } from './paged-list.tsx';

type Props<Page, Row> = Omit<PagedListProps<Page, Row>, 'rowHeight' | 'children'> & {
  /** Accessible name of the table. */
  label: string;
  /** Shown above the table. */
  title?: string;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  onRowClick?: (row: Row) => void;
  /** Minimum row height in pixels. */
  rowHeight?: number;
};

/** A card with a paginated table. A row that moved between pages while loading is shown once. */
export function PagedTable<Page, Row>({
  label,
  title,
  columns,
  rowKey,
  onRowClick,
  rowHeight = 44,
  ...list
}: Props<Page, Row>) {
  return (
    <Card title={title} flush>
      <PagedList {...list} rowHeight={rowHeight}>
        {(rows) => (
          <DataTable
            label={label}
            columns={columns}
            rows={[...new Map(rows.map((row) => [rowKey(row), row])).values()]}
            rowKey={rowKey}
            rowHeight={rowHeight}
            more={list.query.hasNextPage}
            onRowClick={onRowClick}
          />
        )}
      </PagedList>
    </Card>
  );
}
