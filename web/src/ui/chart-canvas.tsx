import { useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { ChartProps } from './chart.tsx';
import { formatFigure, smooth, stack } from './chart-scale.ts';

/** Steps and epochs are counted, not divided. */
const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6];
const SPARSE_MAX = 12;

type CanvasProps = Required<ChartProps>;
type Hover = { index: number; left: number };

/** Draws with uPlot; the legend, the values under the pointer and the summary for screen readers are elements. */
export default function ChartCanvas(props: ChartProps) {
  const all: CanvasProps = {
    kind: 'line',
    time: false,
    smoothing: 0,
    logScale: false,
    height: 220,
    formatX: props.time ? formatTime : String,
    hoverX: props.formatX ?? (props.time ? formatTime : String),
    formatY: formatFigure,
    ...withoutUndefined(props),
  };
  const { label, x, series, height, kind, time, logScale, smoothing, hoverX, formatY } = all;
  const [hover, setHover] = useState<Hover | null>(null);
  const theme = useSyncExternalStore(onThemeChange, currentTheme);
  const place = useRef<HTMLElement>(null);
  // What a plot is built from once; other changes only set its data.
  const shape = [
    theme,
    kind,
    time,
    logScale,
    smoothing > 0,
    height,
    ...series.map((one) => `${one.label}${one.color}`),
  ].join('|');
  const at = hover && x[hover.index];

  return (
    <figure ref={place} className="relative" aria-label={label}>
      <Plot key={shape} {...all} onHover={setHover} />
      {hover && at !== null && at !== undefined && (
        <div
          aria-hidden
          className="pointer-events-none absolute top-1 z-10 min-w-32 rounded-lg bg-surface px-2.5 py-2 text-xs shadow-pop"
          style={
            hover.left > 0.5
              ? { right: `calc(${(1 - hover.left) * 100}% + 12px)` }
              : { left: `calc(${hover.left * 100}% + 12px)` }
          }
        >
          <div className="mb-1 text-muted tabular-nums">
            {hoverX(at)}
            {smoothing > 0 && ', smoothed'}
          </div>
          {series.map((one, index) => (
            <div key={one.label} className="flex items-center justify-between gap-4">
              <Swatch name={one.label} color={colourName(one.color, index)} />
              <span className="font-medium tabular-nums">
                {showValue(drawnValue(one.values, smoothing, hover.index), formatY)}
              </span>
            </div>
          ))}
        </div>
      )}
      {series.length > 1 && (
        <figcaption className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-muted text-xs">
          {series.map((one, index) => (
            <Swatch key={one.label} name={one.label} color={colourName(one.color, index)} />
          ))}
        </figcaption>
      )}
      <span className="sr-only">{summary(all)}</span>
    </figure>
  );
}

function Swatch({ name, color }: { name: string; color: string }) {
  return (
    <span className="flex items-center gap-1.5">
      <span className="size-2 rounded-full" style={{ background: `var(${color})` }} />
      {name}
    </span>
  );
}

/** The canvas. Built when it mounts; afterwards it follows its data and the width of its place. */
function Plot({ onHover, ...props }: CanvasProps & { onHover: (hover: Hover | null) => void }) {
  const { x, series, kind, smoothing, logScale, height } = props;
  const place = useRef<HTMLDivElement>(null);
  const [plot, setPlot] = useState<uPlot | null>(null);
  const formatX = useEffectEvent((value: number) => props.formatX(value));
  const formatY = useEffectEvent((value: number) => props.formatY(value));
  const build = useEffectEvent((element: HTMLElement) => {
    const options = plotOptions(props, element.clientWidth, { formatX, formatY, onHover });
    return new uPlot(options, toData(x, series, kind, smoothing, logScale), element);
  });

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const built = build(element);
    setPlot(built);
    const observer = new ResizeObserver(() =>
      built.setSize({ width: element.clientWidth, height: built.height }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      built.destroy();
    };
  }, []);

  useEffect(() => {
    plot?.setData(toData(x, series, kind, smoothing, logScale));
  }, [plot, x, series, kind, smoothing, logScale]);

  return <div ref={place} aria-hidden style={{ height }} className="w-full" />;
}

type Callbacks = {
  formatX: (x: number) => string;
  formatY: (y: number) => string;
  onHover: (hover: Hover | null) => void;
};

function plotOptions(
  props: CanvasProps,
  width: number,
  { formatX, formatY, onHover }: Callbacks,
): uPlot.Options {
  const { kind, time, logScale, smoothing, height, series } = props;
  const bars = kind === 'stacked-bars';
  const colours = series.map((one, index) => readColour(colourName(one.color, index)));
  const axis: uPlot.Axis = {
    stroke: readColour('--faint'),
    font: '11px "Inter Variable", sans-serif',
    grid: { stroke: readColour('--line'), width: 1 },
    ticks: { show: false },
    gap: 6,
  };
  const line = (colour: string): uPlot.Series => ({
    stroke: colour,
    width: 1.75,
    points: { show: isSparse, size: 6, fill: colour, stroke: colour },
    spanGaps: true,
  });
  // The raw values behind a smoothed line.
  const faint = (colour: string): uPlot.Series => ({
    ...line(`${colour}47`),
    width: 1,
    points: { show: false },
  });
  const bar = (colour: string): uPlot.Series => ({
    fill: colour,
    stroke: 'transparent',
    width: 0,
    paths: uPlot.paths.bars?.({ size: [0.64, 34] }),
    points: { show: false },
  });
  const drawn = bars
    ? colours.map(bar).reverse()
    : smoothing > 0
      ? [...colours.map(faint), ...colours.map(line)]
      : colours.map(line);
  return {
    width,
    height,
    // Half of the time that may stand at the right end.
    padding: [8, time ? 18 : 8, 0, 0],
    ...(time === 'utc' && { tzDate: utcDate }),
    legend: { show: false },
    cursor: { points: { show: !bars, size: 7 }, drag: { x: false, y: false }, y: false },
    scales: {
      x: { time: time !== false, range: bars ? roomForBars : roomForOne },
      y: { distr: logScale ? 3 : 1, ...(bars && { range: fromZero }) },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 26,
        space: 80,
        values: (_plot, ticks) => ticks.map(formatX),
        ...(!time && { incrs: WHOLE_STEPS }),
      },
      {
        ...axis,
        size: roomForLabels,
        values: (_plot, ticks) => ticks.map((tick) => (tick === null ? '' : formatY(tick))),
      },
    ],
    series: [{}, ...drawn],
    hooks: {
      setCursor: [
        ({ cursor, bbox, width: total }) => {
          const { idx, left } = cursor;
          const outside = idx === null || idx === undefined || left === undefined || left < 0;
          onHover(outside ? null : { index: idx, left: (left + bbox.left / devicePixelRatio) / total });
        },
      ],
    },
  };
}

/** Pixels for the widest label of the y axis. */
function roomForLabels(_plot: uPlot, labels: string[] | null): number {
  const longest = Math.max(0, ...(labels ?? []).map((label) => label.length));
  return Math.max(52, 12 + 6.5 * longest);
}

/** A line of a few values is told by its points, and one value has no line at all. */
function isSparse(plot: uPlot, series: number): boolean {
  return Array.from(plot.data[series] ?? []).filter((value) => value !== null).length <= SPARSE_MAX;
}

/** A single step stands in the middle, with one on either side; there is none before the first. */
function roomForOne(plot: uPlot, min: number, max: number): uPlot.Range.MinMax {
  const [only, ...others] = plot.data[0];
  return only !== undefined && others.length === 0 ? [Math.max(0, only - 1), only + 1] : [min, max];
}

/** Half a step of room at either end, so that the first and the last bar are whole. */
function roomForBars(plot: uPlot, min: number, max: number): uPlot.Range.MinMax {
  const [first = 0, second = first + 1] = plot.data[0];
  const room = (second - first) / 2;
  return [min - room, max + room];
}

/** A date whose parts are those of UTC, by which the ticks are placed. */
function utcDate(seconds: number): Date {
  return uPlot.tzDate(new Date(seconds * 1000), 'UTC');
}

function fromZero(_plot: uPlot, _min: number, max: number): uPlot.Range.MinMax {
  return [0, max > 0 ? max * 1.08 : 1];
}

function toData(
  x: readonly number[],
  series: ChartProps['series'],
  kind: CanvasProps['kind'],
  smoothing: number,
  logScale: boolean,
): uPlot.AlignedData {
  const values = series.map((one) =>
    logScale ? one.values.map((value) => (value !== null && value > 0 ? value : null)) : [...one.values],
  );
  // The tallest is drawn first, so that each lower part covers its share.
  if (kind === 'stacked-bars') return [[...x], ...stack(values).reverse()];
  return smoothing > 0
    ? [[...x], ...values, ...values.map((one) => smooth(one, smoothing))]
    : [[...x], ...values];
}

function summary({ x, series, formatX, formatY }: CanvasProps): string {
  if (x.length === 0) return 'No values yet.';
  return series
    .map(({ label, values }) => {
      const index = values.findLastIndex((value) => value !== null);
      const at = x[index];
      return at === undefined
        ? `${label}: no values.`
        : `${label}: ${showValue(values[index], formatY)} at ${formatX(at)}.`;
    })
    .join(' ');
}

/** The value of the bold line. */
function drawnValue(values: readonly (number | null)[], smoothing: number, index: number): number | null {
  return (smoothing > 0 ? smooth(values, smoothing) : values)[index] ?? null;
}

function showValue(value: number | null | undefined, format: (y: number) => string): string {
  return value === null || value === undefined ? '–' : format(value);
}

function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

function colourName(color: number | undefined, index: number): string {
  return `--chart-${color ?? (index % 5) + 1}`;
}

/** A canvas needs the colour itself, not the variable. */
function readColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function currentTheme(): string {
  return document.documentElement.dataset.theme ?? 'light';
}

function onThemeChange(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => observer.disconnect();
}

function withoutUndefined(props: ChartProps): ChartProps {
  return Object.fromEntries(Object.entries(props).filter(([, value]) => value !== undefined)) as ChartProps;
}
