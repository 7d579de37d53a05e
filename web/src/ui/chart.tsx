import { lazy } from 'react';
import { LazyPart } from './boundary.tsx';
import type { ChartProps } from './chart-plot.ts';
import { Skeleton } from './skeleton.tsx';

const ChartCanvas = lazy(() => import('./chart-canvas.tsx'));

/** A plot with values on hover. Loads the plotting library on first use. */
export function Chart(props: ChartProps) {
  const { label, height = 220 } = props;
  return (
    <div style={{ minHeight: height }}>
      <LazyPart
        pending={<Skeleton className="h-full min-h-[inherit] w-full" />}
        fallback={() => (
          <p
            role="status"
            className="flex min-h-[inherit] items-center justify-center rounded-lg border border-line border-dashed px-4 text-center text-compact text-muted"
          >
            The chart “{label}” could not be loaded yet.
          </p>
        )}
      >
        <ChartCanvas {...props} height={height} />
      </LazyPart>
    </div>
  );
}
