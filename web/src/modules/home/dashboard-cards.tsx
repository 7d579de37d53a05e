import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Money } from '../../ui/money.tsx';
import { QueryView, type ViewedQuery } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { NO_STARTING_CREDITS } from '../credits/credit-queries.ts';

const ROWS = 5;

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
            <Skeleton className="h-[7.3125rem]" />
          </LoadingRegion>
        }
        compact
      >
        {({ available, held }) => (
          <>
            <Money bgl={available} className="font-semibold text-3xl tracking-tight" />
            {isReturning && parseBgl(available) === 0n && (
              <p className="mt-2 text-[0.8125rem] text-muted leading-5">{NO_STARTING_CREDITS}</p>
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

type RecentCardProps<Data, Row> = {
  title: string;
  /** The page with the full list. */
  to: LinkProps['to'];
  query: ViewedQuery<Data>;
  rowsOf: (data: Data) => readonly Row[];
  rowKey: (row: Row) => string;
  row: (row: Row) => ReactNode;
  /** Explains the purpose if the list is empty. */
  empty: string;
  /** The first action for an empty list. */
  action?: ReactNode;
  /** Number of placeholder lines. */
  skeletons?: number;
};

/** The newest items of a list, with its loading, empty and error states. */
export function RecentCard<Data, Row>({
  title,
  to,
  query,
  rowsOf,
  rowKey,
  row,
  empty,
  action,
  skeletons = 3,
}: RecentCardProps<Data, Row>) {
  const any = query.data !== undefined && rowsOf(query.data).length > 0;
  return (
    <Card
      title={title}
      flush
      actions={
        any ? (
          <Link to={to} className="rounded text-[0.8125rem] text-muted hover:text-ink hover:underline">
            See all<span className="sr-only">: {title}</span>
          </Link>
        ) : undefined
      }
    >
      <QueryView
        query={query}
        failed={`${title} could not be loaded`}
        pending={
          <LoadingRegion label={`Loading ${title.toLowerCase()}`} className="grid gap-5 px-5 pt-1 pb-5">
            {Array.from({ length: skeletons }, (_, index) => (
              <Skeleton key={index} className="h-9" />
            ))}
          </LoadingRegion>
        }
        isEmpty={(data) => rowsOf(data).length === 0}
        empty={
          <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 px-5 pb-5">
            <p className="min-w-0 flex-1 basis-56 text-pretty text-muted">{empty}</p>
            {action}
          </div>
        }
        compact
        flush
      >
        {(data) => (
          <ul className="divide-y divide-line overflow-hidden rounded-b-xl border-line border-t">
            {rowsOf(data)
              .slice(0, ROWS)
              .map((one) => (
                <li key={rowKey(one)}>{row(one)}</li>
              ))}
          </ul>
        )}
      </QueryView>
    </Card>
  );
}
