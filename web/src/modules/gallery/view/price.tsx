import { parseBgl } from '@bakehouse/contract/money';
import { cx } from '../../../lib/cx.ts';
import { Money } from '../../../ui/money.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';

type Props = {
  quote: { data: { cost: string } | undefined; isError: boolean; isSettled: boolean };
  className?: string;
};

/** The price next to the button; "unknown" if it cannot be read. The server decides the held amount. */
export function Price({ quote, className }: Props) {
  const { data, isError, isSettled } = quote;
  const cost = isError ? null : data?.cost;
  return (
    <div className={className} role="group" aria-label="Price" aria-busy={!isSettled}>
      <p className="text-muted text-xs">Price</p>
      {cost === undefined ? (
        <Skeleton className="mt-1 h-6 w-16" />
      ) : cost === null ? (
        <p className="font-semibold text-lg">Unknown</p>
      ) : (
        <p className={cx('font-semibold text-lg', !isSettled && 'opacity-60')}>
          <Money unrounded bgl={cost} />
          {parseBgl(cost) === 0n && <span className="ml-1.5 font-normal text-compact text-muted">Free</span>}
        </p>
      )}
      {isError && (
        <p className="max-w-52 text-muted text-xs">
          The price could not be loaded. You pay what the server quotes.
        </p>
      )}
    </div>
  );
}
