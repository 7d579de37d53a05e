import { axisDecimals } from '../../../lib/format/axis-decimals.ts';
import { Card } from '../../../ui/card.tsx';
import { Chart } from '../../../ui/chart.tsx';
import type { ChartProps } from '../../../ui/chart-plot.ts';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { type MetricsPoint, useDeploymentMetrics } from '../use-deployments.ts';
import { pointsPerMinute } from './points-per-minute.ts';

const milliseconds: ChartProps['formatY'] = (value, axis) =>
  `${value.toFixed(axis ? axisDecimals(axis.step) : 0)} ms`;

/** Requests, latency and speed of the last hour by minute. */
export function DeploymentMetrics({ podId }: { podId: string }) {
  const metrics = useDeploymentMetrics(podId);
  return (
    <QueryView
      query={metrics}
      failed="The metrics could not be loaded"
      pending={
        <LoadingRegion className="grid gap-5 lg:grid-cols-2">
          <Skeleton className="h-64" />
          <Skeleton className="h-64" />
        </LoadingRegion>
      }
      isEmpty={({ points }) => points.length === 0}
      empty={
        <Card>
          <EmptyState
            title="No requests in the last hour"
            description="Ask it something in the playground."
          />
        </Card>
      }
    >
      {({ points }) => <Charts points={points} readAt={metrics.dataUpdatedAt} />}
    </QueryView>
  );
}

function Charts({ points, readAt }: { points: MetricsPoint[]; readAt: number }) {
  const { x, minutes } = pointsPerMinute(points, readAt);
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <Card title="Requests per minute">
        <Chart
          label="Requests per minute"
          x={x}
          time
          kind="stacked-bars"
          series={[
            {
              label: 'Answered',
              values: minutes.map((point) => (point ? point.requests - point.errors : 0)),
            },
            { label: 'Failed', values: minutes.map((point) => point?.errors ?? 0), color: 5 },
          ]}
        />
      </Card>
      <Card title="Time to first token">
        <Chart
          label="Time to first token, median"
          x={x}
          time
          series={[
            { label: 'Median', values: minutes.map((point) => point?.time_to_first_token_ms_p50 ?? null) },
          ]}
          formatY={milliseconds}
        />
      </Card>
      <Card title="Latency">
        <Chart
          label="Latency, median and 95th percentile"
          x={x}
          time
          series={[
            { label: 'Median', values: minutes.map((point) => point?.latency_ms_p50 ?? null) },
            { label: '95th percentile', values: minutes.map((point) => point?.latency_ms_p95 ?? null) },
          ]}
          formatY={milliseconds}
        />
      </Card>
      <Card title="Tokens per second">
        <Chart
          label="Tokens per second of one answer"
          x={x}
          time
          series={[{ label: 'Tokens/s', values: minutes.map((point) => point?.tokens_per_second ?? null) }]}
        />
      </Card>
    </div>
  );
}
