import { type ExportFormat, exportFormats } from '@bakehouse/contract/exports';
import type { Context } from '../../../platform/context.ts';
import type { Price } from '../../credits/prices/prices.ts';
import { readPrices } from '../../credits/prices/read-prices.ts';
import { listModelFiles } from '../../models/weights/list-model-files.ts';
import { readModelJson } from '../../models/weights/read-model-json.ts';
import { selectMeasuredFlops } from '../measured-queries.ts';
import type { Exportable } from './read-exportable.ts';

/** Default until exports on this machine were measured; about what a laptop's disk and CPU reach. */
const BYTES_PER_S = 40_000_000;
const LEAST_S = 30;
/** Bytes per weight. GGUF's Q8_0 stores a two-byte scale for each 32 weights. */
const BYTES_EACH = { gguf_f16: 2, gguf_q8_0: 34 / 32 };

export type ExportEstimate = {
  /** Approximate size of the result, by format. */
  sizes: Record<ExportFormat, number>;
  /** Bytes of weights to read and write, which determine the duration. */
  work: Record<ExportFormat, number>;
  /** In bytes of `work` per second. */
  speed: number;
  price: Price;
};

/** Estimates the size of each export of a fine-tune and the speed of exports here. */
export async function estimateExports(ctx: Context, { base }: Exportable): Promise<ExportEstimate> {
  const weights = sumOf(listModelFiles(base.files), '.safetensors');
  const config = await readModelJson(ctx, base.files, 'config.json');
  const isWide = (config?.dtype ?? config?.torch_dtype) === 'float32';
  const numbers = weights / (isWide ? 4 : 2);
  const sizes = {
    safetensors: weights,
    gguf_f16: Math.round(numbers * BYTES_EACH.gguf_f16),
    gguf_q8_0: Math.round(numbers * BYTES_EACH.gguf_q8_0),
  };
  const gguf = sumOf(base.files, '.gguf');
  const work = Object.fromEntries(
    exportFormats.map((format) => [format, (format === 'safetensors' ? weights : gguf) + sizes[format]]),
  ) as Record<ExportFormat, number>;
  const price = (await readPrices(ctx.db, ctx.clock.now()))['training:CPU'];
  const measured = await selectMeasuredFlops(ctx.db, { priceId: price.id, kind: 'export' });
  return { sizes, work, speed: measured ?? BYTES_PER_S, price };
}

/** Returns the duration in seconds on a CPU with this slowdown. */
export function exportSeconds(
  { work, speed }: Pick<ExportEstimate, 'work' | 'speed'>,
  format: ExportFormat,
  slowdown: number,
): number {
  return Math.max(LEAST_S, work[format] / speed) * slowdown;
}

function sumOf(files: Exportable['base']['files'], ending: string): number {
  return files.filter(({ path }) => path.endsWith(ending)).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
