import type { listPrices } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatDateTime } from '../../lib/format/format-time.ts';
import type { Column } from '../../ui/data-table.tsx';
import { Money } from '../../ui/money.tsx';

export type Price = ResponseOf<typeof listPrices>['prices'][number];

/** Text after an amount, by unit. */
export const priceUnits: Record<Price['unit'], string> = {
  hour: 'per hour',
  million_tokens: 'per million tokens',
  thousand_expert_steps: 'per 1,000 expert steps',
  thousand_steps: 'per 1,000 steps',
  second: 'per second of video',
  image: 'per picture',
};

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
