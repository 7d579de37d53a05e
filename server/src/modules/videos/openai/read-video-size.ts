import type { Generator } from '@bakehouse/contract/generators/generator';
import { readShape } from '../../generations/generators/read-shape.ts';
import { videoSize } from '../../generations/generators/video-size.ts';

/** What a form without one makes. */
const USUAL_SHAPE = '16:9';

/**
 * What a size in a call of OpenAI's videos API, such as `1280x720`, is in the fields of a generator's form: its shape, and
 * the quality with the nearest shorter side. Throws AppError 'invalid_request' for another shape, and for what is no size. Pure.
 */
export function readVideoSize(
  size: string,
  { title, fields }: Generator,
): { aspect_ratio?: string; quality?: string } {
  const ratios = optionsOf(fields, 'aspect_ratio');
  const shape = readShape(size, { model: title, shapes: ratios.length > 0 ? ratios : [USUAL_SHAPE] });
  const short = Math.min(...size.split('x').map(Number));
  const off = (quality: string) => Math.abs(shortSide(quality) - short);
  const [quality] = optionsOf(fields, 'quality').toSorted((a, b) => off(a) - off(b));
  return {
    ...(shape !== null && ratios.length > 0 && { aspect_ratio: shape }),
    ...(shape !== null && quality !== undefined && { quality }),
  };
}

/** The length that the generator's form offers and that is nearest to so many seconds; the longer one of two. Pure. */
export function nearestLength(seconds: number, { fields }: Generator): number {
  const off = (length: number) => Math.abs(length - seconds);
  const lengths = optionsOf(fields, 'duration').map(Number);
  const [nearest = seconds] = lengths.toSorted((a, b) => off(a) - off(b) || b - a);
  return nearest;
}

function optionsOf(fields: Generator['fields'], name: string): string[] {
  const field = fields.find((one) => one.name === name);
  return field?.kind === 'choice' ? field.options.map(({ value }) => value) : [];
}

function shortSide(quality: string): number {
  const { width, height } = videoSize({ quality, aspect_ratio: USUAL_SHAPE });
  return Math.min(width, height);
}
