import { useShowAmount } from '../../lib/currency.ts';
import { cx } from '../../lib/cx.ts';
import { isIncoming, type Transaction } from './transaction-rows.ts';

type Props = {
  transaction: Transaction;
  /** The amount as it was booked, in BGL with every decimal, whichever currency is chosen. */
  exact?: boolean;
};

/** '+$5.00', '−$0.12' or '−$0.0034': the sign says the direction, the colour repeats it. */
export function SignedAmount({ transaction, exact = false }: Props) {
  const show = useShowAmount();
  const incoming = isIncoming(transaction);
  const pending = transaction.status === 'pending';
  const booked = `${transaction.amount} BGL`;
  return (
    <span
      title={booked}
      className={cx(
        'whitespace-nowrap font-medium tabular-nums',
        incoming && 'text-good',
        pending && 'text-muted',
      )}
    >
      {incoming ? '+' : '−'}
      {exact ? booked : show(transaction.amount)}
    </span>
  );
}
