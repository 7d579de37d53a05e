import type { Run } from '@bakehouse/contract/training';
import { useQueries } from '@tanstack/react-query';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Card } from '../../../../ui/card.tsx';
import { Chart } from '../../../../ui/chart.tsx';
import { runQuery } from '../../api.ts';
import { describeParameters } from '../describe-parameters.ts';
import { runMetricsQuery } from '../run-calls.ts';
import { overlay } from './curves.ts';

const step = (x: number) => `Step ${formatNumber(x)}`;

/** The curves of several runs over each other, and where their parameters differ. */
export function CompareRuns({ runIds }: { runIds: string[] }) {
  // A run that the address names may be on no page of the list that was loaded, or be gone.
  const runs = useQueries({ queries: runIds.map(runQuery) }).flatMap(({ data }) => data ?? []);
  const metrics = useQueries({ queries: runs.map((run) => runMetricsQuery(run.run_id)) });
  const pointsOf = runs.map((run, index) => ({
    label: run.title,
    points: metrics[index]?.data?.points ?? [],
  }));
  const loss = overlay(pointsOf, 'loss');
  const evaluation = overlay(pointsOf, 'eval_loss');
  const differing = differingParameters(runs);
  return (
    <section aria-label="Comparison" className="mt-6 grid gap-5 lg:grid-cols-2">
      <Card title="Training loss">
        <Chart
          label="Training loss of the chosen runs"
          x={loss.x}
          series={loss.series}
          smoothing={0.6}
          hoverX={step}
        />
      </Card>
      <Card title="Held-out loss">
        <Chart
          label="Held-out loss of the chosen runs"
          x={evaluation.x}
          series={evaluation.series}
          hoverX={step}
        />
      </Card>
      {differing.length > 0 && (
        <Card title="Where they differ" className="lg:col-span-2" flush>
          <div className="overflow-x-auto pb-2">
            <table className="w-full text-left text-[0.8125rem]">
              <thead>
                <tr>
                  <th scope="col" className="px-5 py-2 font-medium text-muted text-xs">
                    Parameter
                  </th>
                  {runs.map((run) => (
                    <th key={run.run_id} scope="col" className="px-3 py-2 font-medium text-muted text-xs">
                      {run.title}
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
    </section>
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
