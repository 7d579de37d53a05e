import type { Dispatch, SetStateAction } from 'react';

/* The area of a picture to change, as a list of shapes that can be undone one by one. */

export type Size = { width: number; height: number };
/** In the picture's pixels, like all lengths here. */
export type Point = { x: number; y: number };
type Rectangle = Size & { left: number; top: number };

/** One change of the area. */
export type Shape =
  | { kind: 'stroke'; erases: boolean; thickness: number; points: readonly Point[] }
  | ({ kind: 'rectangle'; erases: boolean } & Rectangle)
  | { kind: 'all' | 'invert' | 'clear' }
  /** An earlier mask. */
  | { kind: 'mask'; image: CanvasImageSource };

export type SetShapes = Dispatch<SetStateAction<Shape[]>>;

/** Settings of the brush and the soft edge, in the picture's pixels. */
export type Tool = { erases: boolean; thickness: number; feather: number };

type Context = CanvasRenderingContext2D;

/** Paints the area, opaque in the context's colour, on a canvas of any size with the picture's ratio. */
export function paintArea(
  context: Context,
  shapes: readonly Shape[],
  { size, feather }: { size: Size; feather: number },
): void {
  const { canvas } = context;
  context.setTransform(canvas.width / size.width, 0, 0, canvas.height / size.height, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  for (const shape of shapes) {
    paint(context, shape, size);
    context.globalCompositeOperation = 'source-over';
  }
  soften(context, size, feather);
}

function paint(context: Context, shape: Shape, { width, height }: Size): void {
  if ('erases' in shape && shape.erases) context.globalCompositeOperation = 'destination-out';
  switch (shape.kind) {
    case 'stroke':
      return paintStroke(context, shape);
    case 'rectangle':
      return context.fillRect(shape.left, shape.top, shape.width, shape.height);
    case 'all':
      return context.fillRect(0, 0, width, height);
    case 'invert':
      context.globalCompositeOperation = 'xor';
      return context.fillRect(0, 0, width, height);
    case 'clear':
      return context.clearRect(0, 0, width, height);
    case 'mask':
      context.fillRect(0, 0, width, height);
      context.globalCompositeOperation = 'destination-out';
      return context.drawImage(shape.image, 0, 0, width, height);
  }
}

function paintStroke(context: Context, { thickness, points }: Extract<Shape, { kind: 'stroke' }>): void {
  context.lineWidth = thickness;
  context.lineCap = 'round';
  context.lineJoin = 'round';
  context.beginPath();
  for (const { x, y } of points) context.lineTo(x, y);
  // A line without a length has no caps, so a tap is a short line.
  const [first] = points;
  if (first && points.length === 1) context.lineTo(first.x + 0.01, first.y);
  context.stroke();
}

/** Blurs the edges by scaling down and up, because some browsers have no `filter` on a canvas. */
function soften(context: Context, { width, height }: Size, feather: number): void {
  const { canvas } = context;
  const factor = (feather * canvas.width) / width;
  if (factor <= 1) return;
  const small = contextOf({ width: canvas.width / factor, height: canvas.height / factor });
  small.imageSmoothingQuality = 'high';
  small.drawImage(canvas, 0, 0, small.canvas.width, small.canvas.height);
  context.clearRect(0, 0, width, height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(small.canvas, 0, 0, width, height);
}

const SAMPLES = { width: 64, height: 64 };

/** Returns the share of a painted canvas that is selected, from 0 to 1. It is 0 only if nothing is. */
export function areaShare(area: Context): number {
  const samples = contextOf(SAMPLES);
  samples.drawImage(area.canvas, 0, 0, SAMPLES.width, SAMPLES.height);
  // Scaling can lose a thin stroke.
  return opaqueShare(samples) || opaqueShare(area);
}

function opaqueShare(context: Context): number {
  const { width, height } = context.canvas;
  const { data } = context.getImageData(0, 0, width, height);
  let sum = 0;
  for (let at = 3; at < data.length; at += 4) sum += data[at] ?? 0;
  return sum / 255 / (width * height);
}

/** Returns the mask: a PNG of the picture's size that is transparent in the area. */
export async function maskFile(
  shapes: readonly Shape[],
  options: { size: Size; feather: number },
): Promise<File> {
  const area = contextOf(options.size);
  paintArea(area, shapes, options);
  const mask = contextOf(options.size);
  mask.fillRect(0, 0, options.size.width, options.size.height);
  mask.globalCompositeOperation = 'destination-out';
  mask.drawImage(area.canvas, 0, 0);
  const blob = await new Promise<Blob | null>((resolve) => mask.canvas.toBlob(resolve, 'image/png'));
  if (!blob) throw new Error('This browser cannot make a mask of this size. Use a smaller picture.');
  return new File([blob], 'mask.png', { type: 'image/png' });
}

function contextOf({ width, height }: Size): Context {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(width));
  canvas.height = Math.max(1, Math.round(height));
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser cannot draw a mask');
  return context;
}
