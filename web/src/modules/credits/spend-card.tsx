import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { currencyChoice, showNumber } from '../../lib/currency.ts';
import { localDay } from '../../lib/format-time.ts';
import { Card } from '../../ui/card.tsx';
import { Chart } from '../../ui/chart.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/api.ts';
import { spendQuery } from './api.ts';
import { spendSeries } from './spend-series.ts';

const HEIGHT = 180;

/** What each day cost, by what it was spent on. */
export function SpendCard({ from, to }: { from?: string; to?: string }) {
  const user = useUser();
  const currency = currencyChoice.use();
  const { data, error, refetch } = useQuery(spendQuery(user.id, { from, to }));
  const today = localDay(new Date());
  const chart = useMemo(
    () => (data ? spendSeries(data.days, currency, { from, to, today }) : null),
    [data, currency, from, to, today],
  );
  const largest = Math.max(
    0,
    ...(chart?.x.map((_, day) => chart.series.reduce((sum, { values }) => sum + (values[day] ?? 0), 0)) ??
      []),
  );
  return (
    <Card title="Spending per day">
      {chart ? (
        chart.series.length > 0 ? (
          <Chart
            label="Spending per day"
            kind="stacked-bars"
            time="utc"
            height={HEIGHT}
            x={chart.x}
            series={chart.series}
            formatX={formatDay}
            formatY={(value) => showNumber(value, currency, largest)}
          />
        ) : (
          <p className="flex items-center justify-center text-muted" style={{ height: HEIGHT }}>
            Nothing was spent in this period.
          </p>
        )
      ) : error ? (
        <ErrorState
          title="The spending could not be loaded"
          error={error}
          onRetry={() => void refetch()}
          compact
        />
      ) : (
        <LoadingRegion>
          <Skeleton className="h-[180px]" />
        </LoadingRegion>
      )}
    </Card>
  );
}

function formatDay(seconds: number): string {
  return new Date(seconds * 1000).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });
}
