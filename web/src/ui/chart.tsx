import { loadable } from '../lib/loadable.tsx';
import type { ChartProps } from './chart-plot.ts';
import { DeferredPart } from './deferred-part.tsx';
import { Skeleton } from './skeleton.tsx';

const ChartCanvas = loadable(async () => (await import('./chart-canvas.tsx')).default);

/** A plot with values on hover. Loads the plotting library on first use. */
export function Chart(props: ChartProps) {
  const { label, height = 220 } = props;
  return (
    <div style={{ minHeight: height }}>
      <DeferredPart
        pending={<Skeleton className="h-full min-h-[inherit] w-full" />}
        unavailable={
          <p
            role="status"
            className="flex min-h-[inherit] items-center justify-center rounded-lg border border-line border-dashed px-4 text-center text-[0.8125rem] text-muted"
          >
            The chart “{label}” could not be loaded yet.
          </p>
        }
      >
        <ChartCanvas {...props} height={height} />
      </DeferredPart>
    </div>
  );
}
