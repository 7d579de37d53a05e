import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { type listExports as endpoint, exportFormats } from '@bakehouse/contract/exports';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { quote } from '../../credits/prices/quote.ts';
import type { TrainingParts } from '../validation/check-fine-tune.ts';
import { runItems } from '../validation/estimate-run.ts';
import { estimateExports, exportSeconds } from './estimate-export.ts';
import { findObstacle } from './find-obstacle.ts';
import { exportPriceLabel } from './price-label.ts';
import { readExportable } from './read-exportable.ts';

/**
 * Returns the formats in which a model can be exported, or why it cannot. Throws AppError 'not_found' if the
 * caller may not read it.
 */
export async function listExports(
  ctx: Context,
  { runCpu }: Pick<TrainingParts, 'runCpu'>,
  { params }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const found = await readExportable(ctx, { assetId: params.id }).catch((error: unknown) => {
    if (error instanceof AppError && error.code !== 'not_found') return error;
    throw error;
  });
  if (found instanceof AppError) return { obstacle: found.publicMessage, exports: [] };
  const estimate = await estimateExports(ctx, found);
  const { slowdown } = await runCpu(ctx.db);
  return {
    obstacle: null,
    exports: exportFormats.map((format) => ({
      format,
      size_bytes: estimate.sizes[format],
      quote: quote(runItems(estimate.price, exportSeconds(estimate, format, slowdown), 1, exportPriceLabel)),
      obstacle: findObstacle(found, format),
    })),
  };
}
