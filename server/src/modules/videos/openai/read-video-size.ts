import type { Generator } from '@bakehouse/contract/generators/generator';
import { readShape } from '../../generations/generators/read-shape.ts';
import { videoSize } from '../../generations/generators/video-size.ts';

/** Shape of generators whose form has no aspect ratio. */
const USUAL_SHAPE = '16:9';

/**
 * Converts a size of OpenAI's videos API, such as `1280x720`, to a generator's form fields: aspect ratio, and
 * the quality with the nearest shorter side. Throws AppError 'invalid_request' for another shape or an
 * invalid size.
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

/**
 * Returns the duration in the generator's form that is nearest to this many seconds; the longer one on a tie.
 */
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
