import { lazy, Suspense } from 'react';
import { cx } from '../lib/cx.ts';
import { currencyChoice, showAmount, showBoth, showUnrounded } from '../lib/format/currency.ts';

/** Loaded later, to keep the first screen small. */
const ExactAmount = lazy(async () => ({ default: (await import('./exact-amount.tsx')).ExactAmount }));

type Props = {
  /** Decimal BGL, as in the API. */
  bgl: string;
  /** For unit prices. */
  unrounded?: boolean;
  /** Before the currency: '+' or '−'. */
  sign?: string;
  /** Inside a link or button, which cannot contain another button. */
  plain?: boolean;
  className?: string;
};

/** An amount in the display currency. If it is rounded, hover, focus or a tap shows the exact amount. */
export function Money({ bgl, unrounded = false, sign = '', plain = false, className }: Props) {
  const currency = currencyChoice.use();
  const exact = showUnrounded(bgl, currency);
  const text = sign + (unrounded ? exact : showAmount(bgl, currency));
  const look = cx('whitespace-nowrap tabular-nums', className);
  const shown = (
    <span className={look} title={`${bgl} BGL`}>
      {text}
    </span>
  );
  if (plain || text === sign + exact) return shown;
  return (
    <Suspense fallback={shown}>
      <ExactAmount exact={showBoth(bgl)} className={cx(look, 'cursor-help rounded')}>
        {text}
      </ExactAmount>
    </Suspense>
  );
}
