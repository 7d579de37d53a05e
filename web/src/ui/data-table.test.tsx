import { act, fireEvent, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { densityChoice } from '../lib/density.ts';
import { type Column, DataTable, type Sort } from './data-table.tsx';
import { Money } from './money.tsx';

type Row = { id: string; size: number };

const columns: Column<Row>[] = [
  { id: 'id', header: 'Name', cell: (row) => <a href={`#${row.id}`}>{row.id}</a>, sortable: true },
  { id: 'size', header: 'Size', cell: (row) => row.size, numeric: true },
];
const rows = (count: number): Row[] =>
  Array.from({ length: count }, (_, index) => ({ id: `row-${index}`, size: index }));

test('headers sort and expose the sort order', async () => {
  const onSortChange = vi.fn<(sort: Sort) => void>();
  const table = (sort: Sort) => (
    <DataTable
      label="Things"
      columns={columns}
      rows={rows(2)}
      rowKey={(row) => row.id}
      sort={sort}
      onSortChange={onSortChange}
    />
  );
  const { rerender } = render(table({ column: 'size', descending: false }));
  await userEvent.click(screen.getByRole('button', { name: 'Name' }));
  expect(onSortChange).toHaveBeenLastCalledWith({ column: 'id', descending: false });
  rerender(table({ column: 'id', descending: false }));
  expect(screen.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe('ascending');
  await userEvent.click(screen.getByRole('button', { name: 'Name' }));
  expect(onSortChange).toHaveBeenLastCalledWith({ column: 'id', descending: true });
});

test('a row is clickable, but its links handle their own clicks', async () => {
  const onRowClick = vi.fn<(row: Row) => void>();
  render(
    <DataTable
      label="Things"
      columns={columns}
      rows={rows(3)}
      rowKey={(row) => row.id}
      onRowClick={onRowClick}
    />,
  );
  await userEvent.click(screen.getByRole('link', { name: 'row-1' }));
  expect(onRowClick).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole('cell', { name: '2' }));
  expect(onRowClick).toHaveBeenCalledExactlyOnceWith({ id: 'row-2', size: 2 });
});

test('a tap on a rounded amount shows the exact one and does not open the row', async () => {
  const onRowClick = vi.fn<(row: Row) => void>();
  const cost = { id: 'cost', header: 'Cost', cell: () => <Money bgl="0.575139" /> };
  render(
    <DataTable
      label="Things"
      columns={[cost]}
      rows={rows(1)}
      rowKey={(row) => row.id}
      onRowClick={onRowClick}
    />,
  );
  await userEvent.click(await screen.findByRole('button', { name: '$0.02' }));
  expect(onRowClick).not.toHaveBeenCalled();
});

test('selecting text in a row does not open the row', async () => {
  const onRowClick = vi.fn<(row: Row) => void>();
  render(
    <DataTable
      label="Things"
      columns={columns}
      rows={rows(1)}
      rowKey={(row) => row.id}
      onRowClick={onRowClick}
    />,
  );
  const selection = vi.spyOn(window, 'getSelection').mockReturnValue({ isCollapsed: false } as Selection);
  fireEvent.click(screen.getByRole('cell', { name: '0' }));
  expect(onRowClick).not.toHaveBeenCalled();
  selection.mockRestore();
});

test('a press that misses the control in a cell does not open the row', async () => {
  const onRowClick = vi.fn<(row: Row) => void>();
  render(
    <DataTable
      label="Things"
      columns={[{ id: 'box', header: 'Choose', cell: ({ id }) => `Choose ${id}`, control: true }, ...columns]}
      rows={rows(1)}
      rowKey={(row) => row.id}
      onRowClick={onRowClick}
    />,
  );
  await userEvent.click(screen.getByRole('cell', { name: 'Choose row-0' }));
  expect(onRowClick).not.toHaveBeenCalled();
});

test('a long table renders only visible rows and exposes the total count', () => {
  vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(44);
  render(<DataTable label="Things" columns={columns} rows={rows(10_000)} rowKey={(row) => row.id} />);
  const table = screen.getByRole('table');
  expect(table.getAttribute('aria-rowcount')).toBe('10001');
  expect(within(table).getAllByRole('row').length).toBeLessThan(100);
});

test('a table with more pages does not claim a total count', () => {
  render(<DataTable label="Things" columns={columns} rows={rows(2)} rowKey={(row) => row.id} more />);
  expect(screen.getByRole('table').getAttribute('aria-rowcount')).toBe('-1');
});

test('compact tables have lower rows', () => {
  const table = (
    <DataTable label="Things" columns={columns} rows={rows(1)} rowKey={(row) => row.id} rowHeight={60} />
  );
  render(table);
  const height = () => screen.getByRole('cell', { name: 'row-0' }).style.height;
  expect(height()).toBe('60px');
  act(() => densityChoice.set('compact'));
  expect(height()).toBe('43px');
  act(() => densityChoice.set('comfortable'));
});
