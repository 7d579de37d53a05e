import type { getBalance } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { ReactNode } from 'react';
import { Card } from './card.tsx';
import { ErrorState } from './error-state.tsx';
import { Money } from './money.tsx';
import { LoadingRegion, Skeleton } from './skeleton.tsx';

type Props = {
  /** Undefined while it is being read. */
  balance: ResponseOf<typeof getBalance> | undefined;
  error: unknown;
  onRetry: () => void;
  actions?: ReactNode;
};

/** What can be spent, what running work holds, and the two together. */
export function BalanceCard({ balance, error, onRetry, actions }: Props) {
  if (!balance && error) {
    return (
      <Card title="Balance">
        <ErrorState title="The balance could not be loaded" error={error} onRetry={onRetry} compact />
      </Card>
    );
  }
  return (
    <Card title="Balance" actions={actions}>
      {balance ? (
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
          </dl>
        </>
      ) : (
        <LoadingRegion>
          <Skeleton className="h-9 w-32" />
          <Skeleton className="mt-2 h-5 w-28" />
          <Skeleton className="mt-9 h-5 w-full" />
          <Skeleton className="mt-2.5 h-5 w-full" />
        </LoadingRegion>
      )}
    </Card>
  );
}
