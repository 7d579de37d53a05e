import { useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatNumber } from '../lib/format/format-number.ts';
import type { ChartProps } from './chart.tsx';
import { type CanvasProps, colourName, drawnValue, type Hover, plotOptions, toData } from './chart-plot.ts';
import { formatFigure } from './chart-scale.ts';

/** Draws with uPlot; the legend, the values under the pointer and the summary for screen readers are elements. */
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
  const { label, x, series, height, kind, time, logScale, smoothing, mark, hoverX, formatY } = all;
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
    mark && `${mark.x} ${mark.label}`,
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
            // Two may have the same label.
            <div key={index} className="flex items-center justify-between gap-4">
              <Swatch name={one.label} color={colourName(one.color, index)} />
              <span className="font-medium tabular-nums">
                {showValue(drawnValue(one, smoothing, hover.index), formatY)}
              </span>
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

/** The canvas. Built when it mounts; afterwards it follows its data and the width of its place. */
function Plot({ onHover, ...props }: CanvasProps & { onHover: (hover: Hover | null) => void }) {
  const { x, series, kind, smoothing, logScale, height } = props;
  const place = useRef<HTMLDivElement>(null);
  const [plot, setPlot] = useState<uPlot | null>(null);
  const formatX = useEffectEvent((value: number) => props.formatX(value));
  const formatY = useEffectEvent(props.formatY);
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
