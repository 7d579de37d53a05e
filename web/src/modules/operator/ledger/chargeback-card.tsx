import { parseBgl } from '@bakehouse/contract/money';
import { showAmount } from '../../../lib/format/currency.ts';
import { Card } from '../../../ui/card.tsx';
import { notify } from '../../../ui/notify.ts';
import { BookingForm } from './booking-form.tsx';
import { useChargeBack } from './ledger-calls.ts';

/** Books the reversal of a payment by the payer's bank. */
export function ChargebackCard() {
  const chargeBack = useChargeBack();
  return (
    <Card
      title="Charge a payment back"
      description="For a payment reversed outside Stripe. Reversals in Stripe are booked automatically."
    >
      <BookingForm
        userLabel="Payer"
        defaultDescription="Chargeback"
        action="Charge back"
        tone="danger"
        question={(amount, user) => `Charge ${amount} back from ${user}?`}
        consequence="Sendable credits are taken immediately; the rest becomes a debt, collected from future credits. Running work keeps its holds. This cannot be undone."
        pending={chargeBack.isPending}
        book={(booking) =>
          chargeBack.mutateAsync(booking, {
            onSuccess: ({ amount, collected, owed }) =>
              notify.success(`Charged ${showAmount(amount)} back from ${booking.username}`, {
                description: takenAndOwed(collected, owed),
              }),
          })
        }
      />
    </Card>
  );
}

function takenAndOwed(collected: string, owed: string): string {
  if (parseBgl(owed) === 0n) return 'All of it was collected.';
  if (parseBgl(collected) === 0n) return 'Nothing could be collected yet: all of it is owed.';
  return `Collected: ${showAmount(collected)}. Still owed: ${showAmount(owed)}.`;
}
