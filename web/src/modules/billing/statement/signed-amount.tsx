import { cx } from '../../../lib/cx.ts';
import { currencyChoice, showUnrounded } from '../../../lib/format/currency.ts';
import { isIncoming, type Transaction } from './transaction-rows.ts';

/** Renders '+$5.00', '−$0.12' or '−$0.00341'. Unrounded, so that rows add up; colour repeats the sign. */
export function SignedAmount({ transaction }: { transaction: Transaction }) {
  const currency = currencyChoice.use();
  const incoming = isIncoming(transaction);
  const pending = transaction.status === 'pending';
  return (
    <span
      title={`${transaction.amount} BGL`}
      className={cx(
        'whitespace-nowrap font-medium tabular-nums',
        incoming && 'text-good',
        pending && 'text-muted',
      )}
    >
      {incoming ? '+' : '−'}
      {showUnrounded(transaction.amount, currency)}
    </span>
  );
}
