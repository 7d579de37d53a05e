import type { Run } from '@bakehouse/contract/runs';
import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useState } from 'react';
import { countOf } from '../../../../lib/format/count-of.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Button } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import { Card } from '../../../../ui/card.tsx';
import { Chart } from '../../../../ui/chart.tsx';
import { chartColour } from '../../../../ui/chart-colour.ts';
import { errorMessage } from '../../../../ui/notify.ts';
import { QueryView, type ViewedQuery } from '../../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../../ui/skeleton.tsx';
import { describeParameters } from '../describe-parameters.ts';
import { runMetricsQuery } from '../run-calls.ts';
import { runQuery } from '../run-queries.ts';
import { assignPlaces } from './assign-places.ts';
import { overlay } from './curves.ts';
import { namesOfRuns } from './names-of-runs.ts';

const step = (x: number) => `Step ${formatNumber(x)}`;

type Props = {
  runIds: string[];
  /** The maximum number of runs is selected. */
  isFull: boolean;
  onClose: () => void;
};

/** Overlays the curves of several runs and lists their different parameters. */
export function CompareRuns({ runIds, isFull, onClose }: Props) {
  // Runs in the URL may be on a page that isn't loaded, or deleted.
  const runs = useQueries({ queries: runIds.map(runQuery) });
  const metrics = useQueries({ queries: runIds.map(runMetricsQuery) });
  const both = runIds.map((_, index) => [runs[index], metrics[index]] as const);
  const read = both.flatMap(readOf);
  const [places, setPlaces] = useState<(string | null)[]>([]);
  const kept = assignPlaces(places, runIds);
  if (kept.join() !== places.join()) setPlaces(kept);
  return (
    <section aria-label="Comparison" className="mt-6 grid gap-5">
      <header className="flex items-center justify-between gap-4">
        <div>
          <h2 className="font-semibold">Comparison</h2>
          {isFull && <p className="text-compact text-muted">At most {runIds.length} runs can be compared.</p>}
        </div>
        <Button size="sm" onClick={onClose}>
          <X aria-hidden />
          Close
        </Button>
      </header>
      {read.length > 0 && <Failed runs={both} />}
      <QueryView
        query={viewOf(read, both.flat())}
        failed="The runs could not be loaded"
        pending={
          <LoadingRegion className="grid gap-5 lg:grid-cols-2">
            <Skeleton className="h-78 rounded-xl" />
            <Skeleton className="h-78 rounded-xl" />
          </LoadingRegion>
        }
      >
        {(shown) => <Comparison read={shown} places={kept} />}
      </QueryView>
    </section>
  );
}

type RunQueries = readonly [
  UseQueryResult<Run> | undefined,
  UseQueryResult<{ points: Read['points'] }> | undefined,
];

/** Returns the run once both its queries have loaded. */
function readOf([run, metrics]: RunQueries): Read[] {
  return run?.data && metrics?.data ? [{ run: run.data, points: metrics.data.points }] : [];
}

/** Combines the queries of several runs. Failed only if nothing has loaded and nothing is pending. */
function viewOf(read: Read[], queries: RunQueries[number][]): ViewedQuery<Read[]> {
  const all = queries.flatMap((query) => query ?? []);
  const isOver = all.every(({ isPending }) => !isPending);
  const failed = all.find((query) => (read.length > 0 ? query.isRefetchError : query.isError));
  return {
    data: read.length > 0 ? read : undefined,
    error: failed?.error,
    isError: failed !== undefined && isOver,
    isFetching: all.some(({ isFetching }) => isFetching),
    errorUpdateCount: Math.max(...all.map(({ errorUpdateCount }) => errorUpdateCount)),
    dataUpdatedAt: Math.min(...all.flatMap(({ data, dataUpdatedAt }) => (data ? [dataUpdatedAt] : []))),
    refetch: () => Promise.all(all.filter(({ isError }) => isError).map((query) => query.refetch())),
  };
}

/** Shows how many runs failed to load, and why. */
function Failed({ runs }: { runs: RunQueries[] }) {
  const failed = runs.flatMap((queries) => queries.find((query) => query?.isLoadingError) ?? []);
  const [first] = failed;
  if (!first) return null;
  return (
    <Callout
      tone="bad"
      title={`${countOf(failed.length, 'run')} could not be loaded`}
      action={
        <Button
          size="sm"
          onClick={() => {
            for (const query of runs.flat()) if (query?.isLoadingError) void query.refetch();
          }}
        >
          Try again
        </Button>
      }
    >
      {errorMessage(first.error)}
    </Callout>
  );
}

type Read = { run: Run; points: Parameters<typeof overlay>[0][number]['points'] };

/** `places` determines the runs' colours. */
function Comparison({ read, places }: { read: Read[]; places: readonly (string | null)[] }) {
  const runs = read.map(({ run }) => run);
  const names = namesOfRuns(runs);
  const pointsOf = read.map(({ run, points }, index) => ({
    label: names[index] ?? '',
    color: chartColour(places.indexOf(run.run_id)),
    points,
  }));
  const loss = overlay(pointsOf, 'loss');
  const evaluation = overlay(pointsOf, 'eval_loss');
  const differing = differingParameters(runs);
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <Card title="Training loss">
        <Chart
          label="Training loss of the selected runs"
          x={loss.x}
          series={loss.series}
          smoothing={0.6}
          hoverX={step}
        />
      </Card>
      <Card title="Held-out loss">
        <Chart
          label="Held-out loss of the selected runs"
          x={evaluation.x}
          series={evaluation.series}
          hoverX={step}
        />
      </Card>
      {differing.length > 0 && (
        <Card title="Where they differ" className="lg:col-span-2" flush>
          <div className="overflow-x-auto pb-2">
            <table className="w-full text-left text-compact">
              <thead>
                <tr>
                  <th scope="col" className="px-5 py-2 font-medium text-muted text-xs">
                    Parameter
                  </th>
                  {runs.map((run, index) => (
                    <th key={run.run_id} scope="col" className="px-3 py-2 font-medium text-muted text-xs">
                      {names[index]}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {differing.map(({ name, values }) => (
                  <tr key={name} className="border-line border-t">
                    <th scope="row" className="px-5 py-2 font-medium">
                      {name}
                    </th>
                    {values.map((value, index) => (
                      <td key={runs[index]?.run_id} className="px-3 py-2 tabular-nums">
                        {value}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Card>
      )}
    </div>
  );
}

function differingParameters(runs: Run[]): { name: string; values: string[] }[] {
  const [first] = runs;
  if (!first || runs.length < 2) return [];
  const columns = runs.map(describeParameters);
  const rows = describeParameters(first).map(({ name }) => ({
    name,
    values: columns.map((column) => column.find((row) => row.name === name)?.value ?? '–'),
  }));
  return rows.filter(({ values }) => new Set(values).size > 1);
}
