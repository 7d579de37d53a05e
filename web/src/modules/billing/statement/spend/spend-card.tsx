import type { listSpend } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { currencyChoice, showNumber } from '../../../../lib/format/currency.ts';
import { localDay } from '../../../../lib/format/format-time.ts';
import { Card } from '../../../../ui/card.tsx';
import { Chart } from '../../../../ui/chart.tsx';
import { Money } from '../../../../ui/money.tsx';
import { QueryView } from '../../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../../ui/skeleton.tsx';
import { useUser } from '../../../accounts/session.ts';
import { spendQuery } from '../../credit-queries.ts';
import type { Period } from '../period.ts';
import { spendPeriod } from './spend-period.ts';
import { spendSeries } from './spend-series.ts';

const HEIGHT = 180;
/** Placeholder height: the amounts by key with a single line. */
const KEYS_HEIGHT = 85;

/** Spending per day by use, and by API key; for a long or open period only its last days. */
export function SpendCard(period: Period) {
  const user = useUser();
  const today = localDay(new Date());
  const { from, to = today, days: shownDays } = spendPeriod(period, today);
  return (
    <Card title="Spending per day" description={shownDays}>
      <QueryView
        query={useQuery(spendQuery(user.id, period.from === undefined ? period : { from, to }))}
        failed="Spending could not be loaded"
        pending={
          <LoadingRegion>
            <Skeleton className="h-66.25" />
          </LoadingRegion>
        }
        isEmpty={({ days }) => days.length === 0}
        empty={
          <p className="flex items-center justify-center text-muted" style={{ height: HEIGHT + KEYS_HEIGHT }}>
            Nothing was spent in this period.
          </p>
        }
        compact
      >
        {({ days, keys }) => (
          <>
            <SpendChart days={days} from={from} to={to} />
            <SpendByKey keys={keys} />
          </>
        )}
      </QueryView>
    </Card>
  );
}

type Days = ResponseOf<typeof listSpend>['days'];
type Keys = ResponseOf<typeof listSpend>['keys'];

/** Spending and transfers of each API key, and of use without a key. */
function SpendByKey({ keys }: { keys: Keys }) {
  return (
    <section aria-label="Spending by API key" className="mt-4 border-line border-t pt-4">
      <h3 className="font-medium text-compact">By API key</h3>
      <ul className="mt-2 grid gap-x-8 gap-y-1 sm:grid-cols-2">
        {keys.map(({ key_id, key_name, amount, sent }) => (
          <li key={key_id} className="flex justify-between gap-4 text-compact leading-6">
            <span className="truncate text-muted">
              {key_id === null ? 'Without an API key' : (key_name ?? 'Deleted key')}
            </span>
            <span>
              <Money bgl={amount} />
              {sent !== '0' && (
                <span className="text-muted">
                  {' and '}
                  <Money bgl={sent} /> sent
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function SpendChart({ days, from, to }: Required<Period> & { days: Days }) {
  const currency = currencyChoice.use();
  const { x, series } = useMemo(() => spendSeries(days, currency, { from, to }), [days, currency, from, to]);
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
      formatY={(value, axis) => showNumber(value, currency, axis ?? { largest })}
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
