import uPlot from 'uplot';
import { type ChartColour, chartColour } from './chart-colour.ts';
import { type Axis, rangeAround, smooth, stack, visibleIndexes } from './chart-scale.ts';

/** Steps and epochs are integers, so ticks must be too. */
const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6];
const SPARSE_MAX = 12;
const FONT = '11px "Inter Variable", sans-serif';
/** Half a digit's width in FONT, in pixels. */
const HALF_DIGIT = 3.4;

export type ChartSeries = {
  label: string;
  /** One value per x; null for gaps. */
  values: readonly (number | null)[];
  /** Theme chart colour, 1 to 5. Defaults to the colour for its position. */
  color?: ChartColour;
  /** Never smoothed, even if the other series are. */
  exact?: boolean;
};

export type ChartProps = {
  /** Accessible name of the chart. */
  label: string;
  /** Ascending steps, or Unix seconds if `time` is set. */
  x: readonly number[];
  series: readonly ChartSeries[];
  kind?: 'line' | 'stacked-bars';
  /** The x values are timestamps; 'utc' means days starting at midnight UTC. */
  time?: boolean | 'utc';
  /** Weight of the moving average, 0 to 0.99. The raw line is drawn faintly behind it. */
  smoothing?: number;
  logScale?: boolean;
  /** A marked position on the x axis. */
  mark?: { x: number; label: string } | undefined;
  /** In pixels. */
  height?: number;
  formatX?: (x: number) => string;
  /** Formats the heading of the hover values. Defaults to the axis format. */
  hoverX?: (x: number) => string;
  /** `axis` is set when formatting a y axis label. */
  formatY?: (y: number, axis?: Axis) => string;
};

export type CanvasProps = Required<Omit<ChartProps, 'mark'>> & Pick<ChartProps, 'mark'>;
/** Values of the bold line. */
type DrawnSeries = ChartSeries & { drawn: readonly (number | null)[] };
export type PlotProps = Omit<CanvasProps, 'series'> & { series: readonly DrawnSeries[] };
export type Hover = { index: number; left: number };

type Callbacks = {
  formatX: (x: number) => string;
  formatY: (y: number, axis?: Axis) => string;
  onHover: (hover: Hover | null) => void;
};

/** Returns the uPlot options for a chart. */
export function plotOptions(props: CanvasProps, width: number, callbacks: Callbacks): uPlot.Options {
  const { kind, time, logScale, height } = props;
  const bars = kind === 'stacked-bars';
  return {
    width,
    height,
    // Half the width of the rightmost label.
    padding: [8, time ? 18 : Math.max(8, HALF_DIGIT * props.formatX(props.x.at(-1) ?? 0).length), 0, 0],
    ...(time === 'utc' && { tzDate: utcDate }),
    legend: { show: false },
    cursor: { points: { show: !bars, size: 7 }, drag: { x: false, y: false }, y: false },
    scales: {
      x: { time: time !== false, range: bars ? roomForBars : roomForOne },
      y: { distr: logScale ? 3 : 1, range: bars ? fromZero : roomForLines(logScale) },
    },
    axes: axesOf(props, callbacks),
    series: [{}, ...seriesOf(props)],
    hooks: {
      setCursor: [(plot) => callbacks.onHover(hoverOf(plot))],
      ...(props.mark && { draw: [(plot: uPlot) => drawMark(plot, props.mark)] }),
    },
  };
}

function hoverOf({ cursor, bbox, width }: uPlot): Hover | null {
  const { idx, left } = cursor;
  const isOutside = idx === null || idx === undefined || left === undefined || left < 0;
  return isOutside ? null : { index: idx, left: (left + bbox.left / devicePixelRatio) / width };
}

function axesOf({ time, logScale }: CanvasProps, { formatX, formatY }: Callbacks): uPlot.Axis[] {
  const axis: uPlot.Axis = {
    stroke: readColour('--faint'),
    font: FONT,
    grid: { stroke: readColour('--line'), width: 1 },
    ticks: { show: false },
    gap: 6,
  };
  return [
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
      values: (_plot, ticks, _axis, _space, step) => {
        const largest = Math.max(...ticks.map((tick) => Math.abs(tick ?? 0)));
        // A log scale has no constant step.
        const labels = logScale ? undefined : { step, largest };
        return ticks.map((tick) => (tick === null ? '' : formatY(tick, labels)));
      },
    },
  ];
}

function seriesOf({ kind, smoothing, series }: CanvasProps): uPlot.Series[] {
  const colours = series.map((one, index) => readColour(colourName(one.color, index)));
  if (kind === 'stacked-bars') return colours.map(bar).reverse();
  return smoothing > 0 ? [...colours.map(faint), ...colours.map(line)] : colours.map(line);
}

function line(colour: string): uPlot.Series {
  return {
    stroke: colour,
    width: 1.75,
    points: { show: isSparse, size: 6, fill: colour, stroke: colour },
    spanGaps: true,
  };
}

/** Raw values behind a smoothed line. */
function faint(colour: string): uPlot.Series {
  return { ...line(`${colour}47`), width: 1, points: { show: false } };
}

function bar(colour: string): uPlot.Series {
  return {
    fill: colour,
    stroke: 'transparent',
    width: 0,
    paths: uPlot.paths.bars?.({ size: [0.64, 34] }),
    points: { show: false },
  };
}

/** Draws a dashed vertical line with its label at the top, on the side that has room. */
function drawMark(plot: uPlot, mark: ChartProps['mark']): void {
  if (!mark) return;
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(mark.x, 'x', true));
  const isRight = x > bbox.left + bbox.width / 2;
  ctx.save();
  ctx.strokeStyle = readColour('--muted');
  ctx.fillStyle = readColour('--muted');
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.font = FONT.replace('11px', `${11 * devicePixelRatio}px`);
  ctx.textBaseline = 'top';
  ctx.textAlign = isRight ? 'right' : 'left';
  ctx.fillText(mark.label, x + (isRight ? -6 : 6) * devicePixelRatio, bbox.top);
  ctx.restore();
}

/** Returns the width of the widest y axis label, in pixels. */
function roomForLabels(_plot: uPlot, labels: string[] | null): number {
  const longest = Math.max(0, ...(labels ?? []).map((label) => label.length));
  return Math.max(52, 12 + 6.5 * longest);
}

/** Lines with few values show points; a single value would draw no line at all. */
function isSparse(plot: uPlot, series: number): boolean {
  return Array.from(plot.data[series] ?? []).filter((value) => value !== null).length <= SPARSE_MAX;
}

/** Centers a single step, without going below zero. */
function roomForOne(plot: uPlot, min: number, max: number): uPlot.Range.MinMax {
  const [only, ...others] = plot.data[0];
  return only !== undefined && others.length === 0 ? [Math.max(0, only - 1), only + 1] : [min, max];
}

/** Pads both ends by half a step so that the first and last bars fit. */
function roomForBars(plot: uPlot, min: number, max: number): uPlot.Range.MinMax {
  const [first = 0, second = first + 1] = plot.data[0];
  const room = (second - first) / 2;
  return [min - room, max + room];
}

/** Returns a date whose local fields are in UTC, because uPlot places ticks by local fields. */
function utcDate(seconds: number): Date {
  return uPlot.tzDate(new Date(seconds * 1000), 'UTC');
}

/** Returns a y range that fits the values, or one sized by magnitude if all values are equal. */
function roomForLines(logScale: boolean) {
  return (_plot: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax => {
    if (min === null || max === null) return [logScale ? 1 : 0, logScale ? 10 : 1];
    if (min === max) return rangeAround(min, logScale);
    return logScale ? uPlot.rangeLog(min, max, 10, false) : uPlot.rangeNum(min, max, 0.1, true);
  };
}

function fromZero(_plot: uPlot, _min: number, max: number): uPlot.Range.MinMax {
  return [0, max > 0 ? max * 1.08 : 1];
}

/** Smooths all values, then downsamples to what is visible. */
export function drawnLines(
  x: readonly number[],
  series: readonly ChartSeries[],
  kind: CanvasProps['kind'],
  smoothing: number,
): { x: readonly number[]; series: readonly DrawnSeries[] } {
  const lines = series.map((one) => ({
    ...one,
    drawn: smoothing > 0 && !one.exact ? smooth(one.values, smoothing) : one.values,
  }));
  const values = series.map((one) => one.values);
  const places = kind === 'line' ? visibleIndexes(x, values) : null;
  if (!places) return { x, series: lines };
  const valuesSeen = (all: readonly (number | null)[]) => places.map((place) => all[place] ?? null);
  return {
    x: places.map((place) => x[place] ?? 0),
    series: lines.map((one) => ({ ...one, values: valuesSeen(one.values), drawn: valuesSeen(one.drawn) })),
  };
}

/** Returns the columns for uPlot: x, then the faint lines, then the bold lines. */
export function toData({
  x,
  series,
  kind,
  smoothing,
  logScale,
}: Pick<PlotProps, 'x' | 'series' | 'kind' | 'smoothing' | 'logScale'>): uPlot.AlignedData {
  const column = (values: readonly (number | null)[]) =>
    logScale ? values.map((value) => (value !== null && value > 0 ? value : null)) : [...values];
  const raw = series.map(({ values }) => column(values));
  // Draw the tallest bar first, so that shorter bars cover it.
  if (kind === 'stacked-bars') return [[...x], ...stack(raw).reverse()];
  return smoothing > 0 ? [[...x], ...raw, ...series.map(({ drawn }) => column(drawn))] : [[...x], ...raw];
}

/** Returns the CSS variable for a series colour. */
export function colourName(color: ChartColour | undefined, index: number): string {
  return `--chart-${color ?? chartColour(index)}`;
}

/** Canvas needs a resolved colour, not a CSS variable. */
function readColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
