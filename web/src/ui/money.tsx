import { cx } from '../lib/cx.ts';
import { currencyChoice, showAmount, showUnrounded } from '../lib/format/currency.ts';

type Props = {
  /** Decimal BGL, as in the API. */
  bgl: string;
  /** For unit prices, and for amounts that must add up to another. */
  unrounded?: boolean;
  className?: string;
};

/** An amount in the display currency, with the exact BGL amount on hover. */
export function Money({ bgl, unrounded = false, className }: Props) {
  const currency = currencyChoice.use();
  const show = unrounded ? showUnrounded : showAmount;
  return (
    <span className={cx('whitespace-nowrap tabular-nums', className)} title={`${bgl} BGL`}>
      {show(bgl, currency)}
    </span>
  );
}
