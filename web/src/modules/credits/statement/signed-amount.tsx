import { cx } from '../../../lib/cx.ts';
import { currencyChoice, showAmount, showExact } from '../../../lib/format/currency.ts';
import { isIncoming, type Transaction } from './transaction-rows.ts';

type Props = {
  transaction: Transaction;
  /** With every decimal. */
  exact?: boolean;
};

/** '+$5.00', '−$0.12' or '−$0.0034': the sign says the direction, the colour repeats it. */
export function SignedAmount({ transaction, exact = false }: Props) {
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
      {(exact ? showExact : showAmount)(transaction.amount, currency)}
    </span>
  );
}
