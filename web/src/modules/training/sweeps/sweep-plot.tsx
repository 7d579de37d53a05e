import type { Sweep } from '@bakehouse/contract/sweeps';
import { Card } from '../../../ui/card.tsx';
import { Chart } from '../../../ui/chart.tsx';
import { labelOf, measuredOf, measureLabel, valuesOf } from './describe-sweep.ts';
import { SweepHeatmap } from './sweep-heatmap.tsx';

/** What was measured by the values: of one parameter as a line, of two as a heatmap. */
export function SweepPlot({ sweep }: { sweep: Sweep }) {
  const [first, second] = sweep.parameters;
  const label = measureLabel(sweep.measure);
  if (!first) return null;
  if (second)
    return (
      <Card title={label} description="The stronger the colour, the better.">
        <SweepHeatmap sweep={sweep} parameters={[first, second]} />
      </Card>
    );
  const values = valuesOf(sweep, first);
  // Values may be a hundred times another: they stand at equal distances.
  const measured = values.map((value) => {
    const run = sweep.runs.find(({ parameters }) => parameters[first] === value);
    return run ? measuredOf(sweep, run) : null;
  });
  const valueAt = (place: number) => String(values[place] ?? '');
  return (
    <Card title={label} description={`By ${labelOf(first).toLowerCase()}.`}>
      {measured.every((one) => one === null) ? (
        <p className="flex h-55 items-center justify-center text-muted">Nothing has been measured yet.</p>
      ) : (
        <Chart
          label={`${label} by ${labelOf(first)}`}
          x={values.map((_, place) => place)}
          series={[{ label, values: measured }]}
          formatX={valueAt}
          hoverX={(place) => `${labelOf(first)} ${valueAt(place)}`}
        />
      )}
    </Card>
  );
}
