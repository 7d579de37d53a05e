import { showAmount } from '../../../lib/format/currency.ts';
import { Card } from '../../../ui/card.tsx';
import { notify } from '../../../ui/notify.ts';
import { BookingForm } from './booking-form.tsx';
import { useGrantCredits } from './ledger-calls.ts';

/** Grants credits to a user. */
export function GrantCard() {
  const grant = useGrantCredits();
  return (
    <Card title="Grant credits" description="Gives a user credits from the grants account.">
      <BookingForm
        userLabel="Recipient"
        defaultDescription="Grant"
        action="Grant"
        tone="primary"
        question={(amount, user) => `Grant ${amount} to ${user}?`}
        consequence="The credits can be spent immediately. A grant cannot be undone."
        pending={grant.isPending}
        book={(booking) =>
          grant.mutateAsync(booking, {
            onSuccess: ({ amount }) => notify.success(`Granted ${showAmount(amount)} to ${booking.username}`),
          })
        }
      />
    </Card>
  );
}
