import { creditPackagesUsd } from '@bakehouse/contract/limits';
import { ExternalLink } from 'lucide-react';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { cx } from '../../../lib/cx.ts';
import { showAmount, showBoth } from '../../../lib/format/currency.ts';
import { amountInBgl } from '../../../lib/format/typed-amount.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { useForm } from '../../../ui/use-form.ts';
import { useUser } from '../../accounts/session.ts';
import { usdProblem } from './checkout-form.ts';
import { useCheckout } from './purchase-calls.ts';

/** Chooses an amount and redirects to the payment provider. */
export function CheckoutCard() {
  const user = useUser();
  const keys = useIdempotencyKeys('checkout');
  const checkout = useCheckout(user.id);
  const { values, problems, change, onSubmit } = useForm({
    initial: () => ({ usd: String(creditPackagesUsd[1]) }),
    problemsOnSubmit: ({ usd }) => ({ usd: usdProblem(usd) }),
    onSubmit: ({ usd }) =>
      checkout.mutate({ usd, idempotencyKey: keys.keyFor(usd) }, { onSuccess: openCheckout }),
  });
  const { usd } = values;
  const amount = amountInBgl(usd, 'USD');

  function choose(next: string) {
    change({ usd: next });
    if (checkout.isSuccess) checkout.reset();
  }

  // Not called if the user has left the page: the component is unmounted.
  function openCheckout({ checkout_url }: { checkout_url: string }) {
    keys.renew(usd);
    location.assign(checkout_url);
  }

  return (
    <Card title="Buy credits" description="A one-time payment. Credits do not expire.">
      <form noValidate onSubmit={onSubmit} className="grid gap-5">
        <div role="group" aria-label="Amount" className="grid grid-cols-2 gap-3 sm:grid-cols-4">
          {creditPackagesUsd.map((dollars) => (
            <Package key={dollars} usd={String(dollars)} chosen={usd === String(dollars)} onChoose={choose} />
          ))}
        </div>
        <Field
          label="Another amount"
          aside="USD"
          error={problems.usd}
          help={amount ? showBoth(amount) : 'With up to two decimals.'}
        >
          <Input
            value={usd}
            inputMode="decimal"
            autoComplete="off"
            className="tabular-nums sm:max-w-60"
            onChange={(event) => choose(event.target.value.trim())}
          />
        </Field>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <Button type="submit" variant="primary" loading={checkout.isPending || checkout.isSuccess}>
            Continue to payment
            <ExternalLink aria-hidden />
          </Button>
          <p className="text-compact text-muted">You pay on Stripe. This server never sees your card.</p>
        </div>
      </form>
    </Card>
  );
}

type PackageProps = { usd: string; chosen: boolean; onChoose: (usd: string) => void };

function Package({ usd, chosen, onChoose }: PackageProps) {
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={() => onChoose(usd)}
      className={cx(
        'rounded-xl border px-4 py-3 text-left transition-colors hover:bg-subtle',
        chosen ? 'border-accent bg-accent-soft' : 'border-line-strong',
      )}
    >
      <span className="block font-semibold text-lg tabular-nums">${usd}</span>
      <span className="block text-compact text-muted tabular-nums">
        {showAmount(amountInBgl(usd, 'USD') ?? '0', 'BGL')}
      </span>
    </button>
  );
}
