import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Money } from '../../ui/money.tsx';
import { QueryView, type ViewedQuery } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { NO_STARTING_CREDITS } from '../billing/credit-queries.ts';

type Props = {
  balance: ViewedQuery<{ available: string; held: string }>;
  spend: ViewedQuery<{ days: readonly { amount: string }[] }>;
  /** The address had an account before, which explains the empty balance. */
  isReturning: boolean;
};

/** Available and held credits, and spending in thirty days. */
export function BalanceSummary({ balance, spend, isReturning }: Props) {
  return (
    <Card
      title="Available now"
      actions={
        <ButtonLink to="/buy-bagels" size="sm">
          Get credits
        </ButtonLink>
      }
    >
      <QueryView
        query={balance}
        failed="The balance could not be loaded"
        pending={
          <LoadingRegion>
            <Skeleton className="h-29.25" />
          </LoadingRegion>
        }
        compact
      >
        {({ available, held }) => (
          <>
            <Money bgl={available} className="font-semibold text-3xl tracking-tight" />
            {isReturning && parseBgl(available) === 0n && (
              <p className="mt-2 text-compact text-muted leading-5">{NO_STARTING_CREDITS}</p>
            )}
            <dl className="mt-4 grid gap-2 border-line border-t pt-4">
              <Line label="Held for running work" bgl={held} />
              <Line
                label="Spent in 30 days"
                bgl={spend.data && sumOf(spend.data.days)}
                isFailed={spend.isError}
              />
            </dl>
          </>
        )}
      </QueryView>
    </Card>
  );
}

type LineProps = { label: string; bgl: string | undefined; isFailed?: boolean };

/** Reserves its space until the amount is known. */
function Line({ label, bgl, isFailed = false }: LineProps) {
  return (
    <div className="flex justify-between gap-4">
      <dt className="text-muted">{label}</dt>
      <dd>{bgl !== undefined ? <Money bgl={bgl} /> : isFailed ? '–' : <Skeleton className="h-5 w-14" />}</dd>
    </div>
  );
}

function sumOf(days: readonly { amount: string }[]): string {
  return formatBgl(days.reduce((sum, { amount }) => sum + parseBgl(amount), 0n));
}
