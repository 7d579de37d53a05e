import { loadable } from '../lib/loadable.tsx';
import type { ChartColour } from './chart-colour.ts';
import type { Axis } from './chart-scale.ts';
import { DeferredPart } from './deferred-part.tsx';
import { Skeleton } from './skeleton.tsx';

export type ChartSeries = {
  label: string;
  /** One per x; null where there is no value. */
  values: readonly (number | null)[];
  /** Number of the theme's chart colour, 1 to 5; by position unless given. */
  color?: ChartColour;
  /** Drawn as it is, also where the others are smoothed. */
  exact?: boolean;
};

export type ChartProps = {
  /** What the chart shows, for assistive technology. */
  label: string;
  /** Ascending: steps, or seconds since 1970 with `time`. */
  x: readonly number[];
  series: readonly ChartSeries[];
  kind?: 'line' | 'stacked-bars';
  /** The x values are points in time; with 'utc' they are days, which begin at midnight UTC. */
  time?: boolean | 'utc';
  /** 0 to 0.99: weight of the moving average. The raw line stays, faint. */
  smoothing?: number;
  logScale?: boolean;
  /** A place on the x axis that is worth noting. */
  mark?: { x: number; label: string } | undefined;
  /** Pixels. */
  height?: number;
  formatX?: (x: number) => string;
  /** What the values on hover are headed by; as the axis unless given. */
  hoverX?: (x: number) => string;
  /** `axis` is there for a label of the y axis. */
  formatY?: (y: number, axis?: Axis) => string;
};

const ChartCanvas = loadable(async () => (await import('./chart-canvas.tsx')).default);

/** A plot with values on hover. The plotting library loads with the first chart. */
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
