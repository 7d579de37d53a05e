import { useShowAmount } from '../../lib/currency.ts';
import { cx } from '../../lib/cx.ts';
import { isIncoming, type Transaction } from './transaction-rows.ts';

/** '+$5.00' or '−$0.12': the sign says the direction, the colour repeats it. */
export function SignedAmount({ transaction }: { transaction: Transaction }) {
  const show = useShowAmount();
  const incoming = isIncoming(transaction);
  const pending = transaction.status === 'pending';
  const text = show(transaction.amount);
  return (
    <span
      title={`${transaction.amount} BGL`}
      className={cx(
        'whitespace-nowrap font-medium tabular-nums',
        incoming && 'text-good',
        pending && 'text-muted',
      )}
    >
      {!text.startsWith('<') && (incoming ? '+' : '−')}
      {text}
    </span>
  );
}
