import type { listSpend } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { currencyChoice, showNumber } from '../../lib/currency.ts';
import { localDay } from '../../lib/format-time.ts';
import { Card } from '../../ui/card.tsx';
import { Chart } from '../../ui/chart.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/api.ts';
import { spendQuery } from './api.ts';
import type { Period } from './period.ts';
import { spendSeries } from './spend-series.ts';

const HEIGHT = 180;

/** What each day cost, by what it was spent on. */
export function SpendCard({ from, to }: Period) {
  const user = useUser();
  return (
    <Card title="Spending per day">
      <QueryView
        query={useQuery(spendQuery(user.id, { from, to }))}
        failed="The spending could not be loaded"
        pending={
          <LoadingRegion>
            <Skeleton className="h-[180px]" />
          </LoadingRegion>
        }
        isEmpty={({ days }) => days.length === 0}
        empty={
          <p className="flex items-center justify-center text-muted" style={{ height: HEIGHT }}>
            Nothing was spent in this period.
          </p>
        }
        compact
      >
        {({ days }) => <SpendChart days={days} from={from} to={to} />}
      </QueryView>
    </Card>
  );
}

type Days = ResponseOf<typeof listSpend>['days'];

function SpendChart({ days, from, to }: Period & { days: Days }) {
  const currency = currencyChoice.use();
  const today = localDay(new Date());
  const { x, series } = useMemo(
    () => spendSeries(days, currency, { from, to, today }),
    [days, currency, from, to, today],
  );
  const totals = x.map((_, day) => series.reduce((sum, { values }) => sum + (values[day] ?? 0), 0));
  const largest = Math.max(0, ...totals);
  return (
    <Chart
      label="Spending per day"
      kind="stacked-bars"
      time="utc"
      height={HEIGHT}
      x={x}
      series={series}
      formatX={formatDay}
      formatY={(value) => showNumber(value, currency, largest)}
    />
  );
}

function formatDay(seconds: number): string {
  return new Date(seconds * 1000).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });
}
