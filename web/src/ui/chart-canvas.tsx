import {
  type KeyboardEvent,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatNumber } from '../lib/format/format-number.ts';
import type { ChartProps } from './chart-plot.ts';
import {
  type CanvasProps,
  colourName,
  drawnLines,
  type Hover,
  type PlotProps,
  plotOptions,
  toData,
} from './chart-plot.ts';
import { formatFigure } from './chart-scale.ts';

/**
 * Draws the plot with uPlot. The legend, hover values and screen reader summary are DOM elements, and arrow
 * keys step through the values.
 */
export default function ChartCanvas(props: ChartProps) {
  const all: CanvasProps = {
    kind: 'line',
    time: false,
    smoothing: 0,
    logScale: false,
    height: 220,
    formatX: props.time ? formatTime : formatNumber,
    hoverX: props.formatX ?? (props.time ? formatTime : formatNumber),
    formatY: formatFigure,
    ...withoutUndefined(props),
  };
  const { label, height, kind, time, logScale, smoothing, mark, hoverX, formatY } = all;
  const { x, series } = useMemo(
    () => drawnLines(all.x, all.series, kind, smoothing),
    [all.x, all.series, kind, smoothing],
  );
  const [hover, setHover] = useState<Hover | null>(null);
  const theme = useSyncExternalStore(onThemeChange, currentTheme);
  const place = useRef<HTMLElement>(null);
  // Changing any of these rebuilds the plot; other changes only update its data.
  const shape = [
    theme,
    kind,
    time,
    logScale,
    smoothing > 0,
    height,
    mark && `${mark.x} ${mark.label}`,
    ...series.map((one) => `${one.label}${one.color}`),
  ].join('|');
  const at = hover && x[hover.index];

  return (
    <figure ref={place} className="relative" aria-label={label}>
      <Plot key={shape} {...all} x={x} series={series} hover={hover} onHover={setHover} />
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
            // Labels may repeat.
            <div key={index} className="flex items-center justify-between gap-4">
              <Swatch name={one.label} color={colourName(one.color, index)} />
              <span className="font-medium tabular-nums">{showValue(one.drawn[hover.index], formatY)}</span>
            </div>
          ))}
        </div>
      )}
      {series.length > 1 && (
        <figcaption className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-muted text-xs">
          {series.map((one, index) => (
            <Swatch key={index} name={one.label} color={colourName(one.color, index)} />
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

type Hovered = { hover: Hover | null; onHover: (hover: Hover | null) => void };

/**
 * The canvas. Created on mount, then updated with new data and resized with its container. It has the role of an
 * application, because screen readers then pass the arrow keys on. A click does not focus it, because the focus
 * selects the last value.
 */
function Plot({ hover, onHover, ...props }: PlotProps & Hovered) {
  const { x, series, kind, smoothing, logScale, height } = props;
  const place = useRef<HTMLDivElement>(null);
  const [plot, setPlot] = useState<uPlot | null>(null);
  const formatX = useEffectEvent((value: number) => props.formatX(value));
  const formatY = useEffectEvent(props.formatY);
  const build = useEffectEvent((element: HTMLElement) => {
    const options = plotOptions(props, element.clientWidth, { formatX, formatY, onHover });
    return new uPlot(options, toData(props), element);
  });

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const built = build(element);
    setPlot(built);
    const resize = () => built.setSize({ width: element.clientWidth, height: built.height });
    const observer = new ResizeObserver(resize);
    observer.observe(element);
    return () => {
      observer.disconnect();
      built.destroy();
    };
  }, []);

  const last = x.length - 1;
  // Store the x value that the keyboard selected: new data may change its index.
  const [chosen, setChosen] = useState<number | null>(null);
  const now = chosen === null ? Math.min(hover?.index ?? last, last) : placeOf(chosen, x);
  const pointedAt = chosen === null ? undefined : x[now];

  useEffect(() => {
    // Batch, because the cursor is positioned against the drawn scale. Without setCursor it would stay at the
    // same pixel.
    plot?.batch(() => plot.setData(toData({ x, series, kind, smoothing, logScale })));
    if (pointedAt !== undefined) plot?.setCursor({ left: plot.valToPos(pointedAt, 'x'), top: 0 });
  }, [plot, x, series, kind, smoothing, logScale, pointedAt]);

  function chooseByKey(event: KeyboardEvent) {
    const to = placeAfter(event.key, now, last);
    if (to === null) return;
    event.preventDefault();
    setChosen(x[to] ?? null);
  }
  function leave() {
    setChosen(null);
    plot?.setCursor({ left: -10, top: -10 });
  }
  const canvas = <div ref={place} aria-hidden style={{ height }} className="w-full" />;
  if (last < 0) return canvas;
  return (
    <div
      role="application"
      aria-roledescription="chart"
      tabIndex={0}
      aria-label={`${props.label}, values`}
      onKeyDown={chooseByKey}
      onMouseDown={(event) => event.preventDefault()}
      onFocus={() => setChosen(x[now] ?? null)}
      onPointerMove={() => setChosen(null)}
      onBlur={leave}
      className="rounded-lg outline-offset-2"
    >
      {canvas}
      <span role="status" className="sr-only">
        {chosen === null ? '' : valuesAt(now, props)}
      </span>
    </div>
  );
}

/** Returns the index that a key moves to, or null if the key does nothing. */
function placeAfter(key: string, from: number, last: number): number | null {
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  if (key === 'ArrowRight' || key === 'ArrowUp') return Math.min(last, from + 1);
  if (key === 'ArrowLeft' || key === 'ArrowDown') return Math.max(0, from - 1);
  return null;
}

/** Returns the index of a value, else of the next larger value, else the last index. */
function placeOf(value: number, x: readonly number[]): number {
  const place = x.findIndex((one) => one >= value);
  return place < 0 ? x.length - 1 : place;
}

function valuesAt(index: number, { x, series, hoverX, formatY }: PlotProps): string {
  const values = series.map((one) => `${one.label} ${showValue(one.drawn[index], formatY)}`);
  return `${hoverX(x[index] ?? 0)}: ${values.join(', ')}`;
}

function summary({ x, series, mark, formatX, formatY }: CanvasProps): string {
  if (x.length === 0) return 'No values yet.';
  const last = series
    .map(({ label, values }) => {
      const index = values.findLastIndex((value) => value !== null);
      const at = x[index];
      return at === undefined
        ? `${label}: no values.`
        : `${label}: ${showValue(values[index], formatY)} at ${formatX(at)}.`;
    })
    .join(' ');
  return mark ? `${last} ${mark.label} at ${formatX(mark.x)}.` : last;
}

function showValue(value: number | null | undefined, format: (y: number) => string): string {
  return value === null || value === undefined ? '–' : format(value);
}

function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
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
