import type { getBalance } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { parseBgl } from '@bakehouse/contract/money';
import type { ReactNode } from 'react';
import { formatDateTime } from '../../lib/format/format-time.ts';
import { Card } from '../../ui/card.tsx';
import { Money } from '../../ui/money.tsx';
import { QueryView, type ViewedQuery } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';

type Balance = ResponseOf<typeof getBalance>;

type Props = {
  query: ViewedQuery<Balance>;
  actions?: ReactNode;
};

/** Available, held, total and sendable credits. */
export function BalanceCard({ query, actions }: Props) {
  return (
    <Card title="Balance" actions={actions}>
      <QueryView
        query={query}
        failed="The balance could not be loaded"
        pending={
          <LoadingRegion>
            <Skeleton className="h-9 w-32" />
            <Skeleton className="mt-2 h-5 w-28" />
            <Skeleton className="mt-9 h-5 w-full" />
            <Skeleton className="mt-2.5 h-5 w-full" />
            <Skeleton className="mt-2.5 h-5 w-full" />
          </LoadingRegion>
        }
        compact
      >
        {(balance) => (
          <>
            <Money bgl={balance.available} className="font-semibold text-3xl tracking-tight" />
            <p className="mt-1 text-muted">available now</p>
            <dl className="mt-5 grid gap-2 border-line border-t pt-4">
              <div className="flex justify-between gap-4">
                <dt className="text-muted">Held for running work</dt>
                <dd>
                  <Money bgl={balance.held} />
                </dd>
              </div>
              <div className="flex justify-between gap-4">
                <dt className="text-muted">Balance</dt>
                <dd>
                  <Money bgl={balance.balance} className="font-medium" />
                </dd>
              </div>
              <div className="flex justify-between gap-4">
                <dt className="text-muted">Can be sent</dt>
                <dd>
                  <Money bgl={balance.sendable} />
                </dd>
              </div>
            </dl>
            <GivenCredits balance={balance} />
          </>
        )}
      </QueryView>
    </Card>
  );
}

/** Explains promotional credits and their next expiry. */
function GivenCredits({ balance: { given, next_expiry } }: { balance: Balance }) {
  if (parseBgl(given) === 0n) return null;
  return (
    <p className="mt-4 text-compact text-muted">
      <Money bgl={given} /> of it are promotional credits. They are spent first and cannot be sent.
      {next_expiry ? (
        <>
          {' '}
          <Money bgl={next_expiry.amount} /> of that expires on {formatDateTime(new Date(next_expiry.at))}.
        </>
      ) : null}
    </p>
  );
}
