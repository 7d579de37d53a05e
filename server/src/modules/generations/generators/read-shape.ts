import { AppError } from '../../../platform/errors.ts';

/** Nobody means a picture of less or more than so many digits. */
const SIZE = /^(?<width>[1-9]\d{1,3})x(?<height>[1-9]\d{1,3})$/;
/** Sizes are in steps of some pixels: one that is so close to a shape means it. */
const SHAPE_OFF_MAX = 0.03;

type Known = {
  model: string;
  /** Those that it makes, as `4:3`; none where its pictures have a shape of their own. */
  shapes: readonly string[];
};

/**
 * The shape of a size in a call of OpenAI's images and videos APIs, null for one that leaves it open. How many pixels that are, the
 * model decides: clients send `1024x1024` for any square, and the answer says what it was. Throws AppError
 * 'invalid_request' for another shape, and for what is no size. Pure.
 */
export function readShape(size: string | null | undefined, { model, shapes }: Known): string | null {
  if (!size || size === 'auto') return null;
  const { width, height } = SIZE.exec(size)?.groups ?? {};
  const asked = Number(width) / Number(height);
  const off = (shape: string) => Math.abs(asked / ratioOf(shape) - 1);
  const [nearest] = shapes.toSorted((a, b) => off(a) - off(b));
  // What is no size is nowhere near a shape.
  if (nearest !== undefined && off(nearest) <= SHAPE_OFF_MAX) return nearest;
  const publicMessage =
    shapes.length === 0
      ? `size must be auto: ${model} decides the size of its pictures`
      : `size must be auto, or WIDTHxHEIGHT in a shape that ${model} makes: ${shapes.join(', ')}`;
  throw new AppError('invalid_request', { publicMessage, param: 'size' });
}

function ratioOf(shape: string): number {
  const [across = Number.NaN, down = Number.NaN] = shape.split(':').map(Number);
  return across / down;
}
