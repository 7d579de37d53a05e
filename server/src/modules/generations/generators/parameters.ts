import type { GenerationParameters } from '@bakehouse/contract/generations';
import { wanDefaults } from '@bakehouse/contract/generators/wan';
import { invalidParam } from '../../../platform/errors.ts';

/** Sizes have two to four digits per side. */
const SIZE = /^(?<width>[1-9]\d{1,3})x(?<height>[1-9]\d{1,3})$/;

/**
 * Maximum relative difference between a requested size and an aspect ratio: sizes are rounded to whole
 * blocks.
 */
const SHAPE_OFF_MAX = 0.03;

/** Length of the shorter side for each quality of a form; 64p is the starter's quality. */
const shortSides: Record<string, number> = { '64p': 64, '480p': 480, '768p': 768, '1080p': 1080, fhd: 1080 };

const HD = 720;

/** Video codecs need sides that are multiples of a block. */
const BLOCK = 16;

type Known = {
  model: string;
  /** Aspect ratios that the model supports, e.g. `4:3`; empty if its ratio is fixed. */
  shapes: readonly string[];
};

/**
 * Returns the aspect ratio of a `size` in OpenAI's images and videos APIs, or null if it is unspecified. The
 * model decides the resolution: clients send `1024x1024` for any square, and the response reports the actual
 * size. Throws AppError 'invalid_request' for an unsupported shape or an invalid size.
 */
export function readShape(size: string | null | undefined, { model, shapes }: Known): string | null {
  if (!size || size === 'auto') return null;
  const { width, height } = SIZE.exec(size)?.groups ?? {};
  const asked = Number(width) / Number(height);
  const off = (shape: string) => Math.abs(asked / ratioOf(shape) - 1);
  const [nearest] = shapes.toSorted((a, b) => off(a) - off(b));
  // The ratio of an invalid size is NaN, so this comparison is false.
  if (nearest !== undefined && off(nearest) <= SHAPE_OFF_MAX) return nearest;
  const publicMessage =
    shapes.length === 0
      ? `size must be auto: ${model} decides the size of its pictures`
      : `size must be auto, or WIDTHxHEIGHT in a shape that ${model} makes: ${shapes.join(', ')}`;
  throw invalidParam('size', publicMessage);
}

function ratioOf(shape: string): number {
  const [across = Number.NaN, down = Number.NaN] = shape.split(':').map(Number);
  return across / down;
}

/** Returns the pixel size for a form's quality and aspect ratio; defaults to 720p and 16:9. */
export function videoSize({ quality, aspect_ratio: ratio }: Pick<GenerationParameters, string>): {
  width: number;
  height: number;
} {
  const short = shortSides[String(quality)] ?? HD;
  const [across = 16, down = 9] = String(ratio ?? wanDefaults.aspectRatio)
    .split(':')
    .map(Number);
  const long = (short * Math.max(across, down)) / Math.min(across, down);
  const [longSide, shortSide] = [long, short].map((side) => BLOCK * Math.round(side / BLOCK)) as [
    number,
    number,
  ];
  return across >= down ? { width: longSide, height: shortSide } : { width: shortSide, height: longSide };
}
