import type { GenerationParameters } from '@bakehouse/contract/generations';
import { wanDefaults } from '@bakehouse/contract/generators/wan';

/** Length of the shorter side by the form's quality; the first is the starter's. */
const shortSides: Record<string, number> = { '64p': 64, '480p': 480, '768p': 768, '1080p': 1080, fhd: 1080 };
const HD = 720;
/** Video codecs need sides that are multiples of a block. */
const BLOCK = 16;

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
