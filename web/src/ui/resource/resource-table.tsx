import { useRowHeight } from '../../lib/density.ts';
import { type Column, DataTable } from '../data-table.tsx';
import { ResourceCard, type ResourceProps } from './resource-list.tsx';

type Props<Page, Row> = ResourceProps<Page, Row> & {
  /** Accessible name of the table. */
  label: string;
  columns: readonly Column<Row>[];
  onRowClick?: (row: Row) => void;
};

/** A card with a paginated table. */
export function ResourceTable<Page, Row>({ label, columns, onRowClick, ...card }: Props<Page, Row>) {
  const rowHeight = useRowHeight(card.rowHeight ?? 44);
  return (
    <ResourceCard {...card} rowHeight={rowHeight}>
      {(rows) => (
        <DataTable
          label={label}
          columns={columns}
          rows={rows}
          rowKey={card.rowKey}
          rowHeight={card.rowHeight}
          more={card.query.hasNextPage}
          onRowClick={onRowClick}
        />
      )}
    </ResourceCard>
  );
}
