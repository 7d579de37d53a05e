import { Card } from './card.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { PagedList, type PagedListProps } from './paged-list.tsx';

type Props<Page, Row> = Omit<PagedListProps<Page, Row>, 'rowHeight' | 'children'> & {
  /** Names the table for assistive technology. */
  label: string;
  /** Stands over the table. */
  title?: string;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  onRowClick?: (row: Row) => void;
  /** Pixels that a row has at least. */
  rowHeight?: number;
};

/** A card with a table whose rows come page by page; a row that moved between two pages meanwhile is shown once. */
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
