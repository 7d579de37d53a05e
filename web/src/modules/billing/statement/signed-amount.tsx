import { cx } from '../../../lib/cx.ts';
import { Money } from '../../../ui/money.tsx';
import { isIncoming, type Transaction } from './transaction-rows.ts';

/** Renders '+$5.00' or '−$0.12'; colour repeats the sign. */
export function SignedAmount({ transaction }: { transaction: Transaction }) {
  const incoming = isIncoming(transaction);
  const pending = transaction.status === 'pending';
  return (
    <Money
      bgl={transaction.amount}
      sign={incoming ? '+' : '−'}
      className={cx('font-medium', incoming && 'text-good', pending && 'text-muted')}
    />
  );
}
