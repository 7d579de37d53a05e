import { creditPackagesUsd } from '@bakehouse/contract/limits';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeftRight, ExternalLink, Gift, UserCog } from 'lucide-react';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { cx } from '../../../lib/cx.ts';
import { amountInBgl, showAmount, showBoth } from '../../../lib/format/currency.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { DataTable } from '../../../ui/data-table.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { useForm } from '../../../ui/use-form.ts';
import { useUser } from '../../accounts/session.ts';
import { NO_STARTING_CREDITS, pricesQuery } from '../credit-queries.ts';
import { priceColumns } from '../prices/price-columns.tsx';
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
    onSubmit: ({ usd }) => checkout.mutate({ usd, idempotencyKey: keys.keyFor(usd) }, { onSuccess: goOn }),
  });
  const { usd } = values;
  const amount = amountInBgl(usd, 'USD');

  function choose(next: string) {
    change({ usd: next });
    if (checkout.isSuccess) checkout.reset();
  }

  // Not called if the user has left the page: the component is unmounted.
  function goOn({ checkout_url }: { checkout_url: string }) {
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
          <p className="text-[0.8125rem] text-muted">You pay on Stripe. This server never sees your card.</p>
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
      <span className="block text-[0.8125rem] text-muted tabular-nums">
        {showAmount(amountInBgl(usd, 'USD') ?? '0', 'BGL')}
      </span>
    </button>
  );
}

/** How to get credits on a server without a payment provider. */
export function CreditSources() {
  const user = useUser();
  return (
    <Card title="How to get credits" description="This server has no payment provider.">
      <ul className="grid gap-5 sm:grid-cols-3">
        <li>
          <Gift aria-hidden className="size-5 text-accent-text" />
          <h3 className="mt-2 font-medium">Starting credits</h3>
          <p className="mt-0.5 text-[0.8125rem] text-muted leading-5">
            {user.is_returning ? NO_STARTING_CREDITS : 'Every new account starts with some.'}
          </p>
        </li>
        <li>
          <UserCog aria-hidden className="size-5 text-accent-text" />
          <h3 className="mt-2 font-medium">A grant</h3>
          <p className="mt-0.5 text-[0.8125rem] text-muted leading-5">
            Ask the operator of this server, with your username.
          </p>
        </li>
        <li>
          <ArrowLeftRight aria-hidden className="size-5 text-accent-text" />
          <h3 className="mt-2 font-medium">A transfer</h3>
          <p className="mt-0.5 text-[0.8125rem] text-muted leading-5">
            Another user can send you credits by your username.
          </p>
        </li>
      </ul>
      <p className="mt-5 flex flex-wrap items-center gap-x-2 gap-y-1 rounded-lg bg-subtle px-3.5 py-2">
        <span className="text-muted max-sm:sr-only">Your username</span>
        <span className="font-medium">{user.username}</span>
        <CopyButton text={user.username} label="Copy the username" />
      </p>
    </Card>
  );
}

/** All prices. */
export function PriceList() {
  return (
    <Card
      title="Prices"
      description="Time is charged by the second, tokens individually. Failed work is not charged."
      flush
    >
      <QueryView
        query={useQuery(pricesQuery)}
        failed="The prices could not be loaded"
        pending={
          <LoadingRegion className="grid gap-4 px-5 pb-5">
            {Array.from({ length: 8 }, (_, index) => (
              <Skeleton key={index} className="h-5" />
            ))}
          </LoadingRegion>
        }
        flush
      >
        {({ prices }) => (
          <DataTable label="Prices" rows={prices} rowKey={(price) => price.id} columns={priceColumns} />
        )}
      </QueryView>
    </Card>
  );
}
