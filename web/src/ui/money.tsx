import { cx } from '../lib/cx.ts';
import { useShowAmount } from '../lib/format/currency.ts';

type Props = { /** Decimal BGL, as the wire has it. */ bgl: string; className?: string };

/** An amount in the chosen currency; the exact BGL amount on hover. */
export function Money({ bgl, className }: Props) {
  const show = useShowAmount();
  return (
    <span className={cx('whitespace-nowrap tabular-nums', className)} title={`${bgl} BGL`}>
      {show(bgl)}
    </span>
  );
}
