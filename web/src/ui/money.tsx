import { cx } from '../lib/cx.ts';
import { currencyChoice, showAmount, showUnrounded } from '../lib/format/currency.ts';

type Props = {
  /** Decimal BGL, as the wire has it. */
  bgl: string;
  /** Of a price, which is multiplied, and of amounts that add up to another. */
  unrounded?: boolean;
  className?: string;
};

/** An amount in the chosen currency; the exact BGL amount on hover. */
export function Money({ bgl, unrounded = false, className }: Props) {
  const currency = currencyChoice.use();
  const show = unrounded ? showUnrounded : showAmount;
  return (
    <span className={cx('whitespace-nowrap tabular-nums', className)} title={`${bgl} BGL`}>
      {show(bgl, currency)}
    </span>
  );
}
