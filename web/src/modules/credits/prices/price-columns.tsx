import { formatDateTime } from '../../../lib/format/format-time.ts';
import type { Column } from '../../../ui/data-table.tsx';
import { Money } from '../../../ui/money.tsx';
import { type Price, priceUnits } from './price-units.ts';

/** The priced item, with its upcoming price. */
export const priceColumns: Column<Price>[] = [
  {
    id: 'label',
    header: 'Item',
    cell: ({ label, next }) => (
      <>
        <span className="block">{label}</span>
        {next && (
          <span className="block text-muted text-xs">
            <Money unrounded bgl={next.unit_price} /> from {formatDateTime(new Date(next.valid_from))}
          </span>
        )}
      </>
    ),
  },
  {
    id: 'price',
    header: 'Price',
    numeric: true,
    cell: ({ unit_price, unit }) => (
      <>
        <Money unrounded bgl={unit_price} className="font-medium" />{' '}
        <span className="text-muted max-sm:block max-sm:text-xs">{priceUnits[unit]}</span>
      </>
    ),
  },
];
