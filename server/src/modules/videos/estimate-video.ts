import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl, formatUsd } from '@bakehouse/contract/money';
import type { estimateVideo as endpoint } from '@bakehouse/contract/videos';
import type { Context } from '../../platform/context.ts';
import { readPrices } from '../credits/prices/read-prices.ts';
import { chooseProvider } from '../generations/start/choose-provider.ts';
import { costOfGeneration } from '../generations/start/cost-of-generation.ts';
import { readParameters } from '../generations/start/read-parameters.ts';
import { findVideoModel } from './find-video-model.ts';
import { readVideoParameters } from './read-video-parameters.ts';

/**
 * Returns the price of a video at its provider. Throws whatever `findVideoModel`, `chooseProvider` and
 * `readVideoParameters` throw.
 */
export async function estimateVideo(
  ctx: Context,
  { model, duration, quality, aspect_ratio, generate_audio }: InputOf<typeof endpoint>['body'],
): Promise<ResponseOf<typeof endpoint>> {
  const named = await findVideoModel(ctx, model);
  const chosen = await chooseProvider(ctx, named);
  const given = readVideoParameters(named.generator, chosen.form, {
    duration: duration ?? undefined,
    quality: quality ?? undefined,
    aspect_ratio: aspect_ratio ?? undefined,
    generate_audio: generate_audio ?? undefined,
  });
  const parameters = readParameters(chosen.form, given);
  const prices = await readPrices(ctx.db, ctx.clock.now());
  const micro = costOfGeneration(prices, chosen, { generator: named.generator, parameters });
  const bgl = Number(formatBgl(micro));
  return {
    estimated_cost_tokens: bgl,
    estimated_cost_bgl: bgl,
    estimated_cost_usd: Number(formatUsd(micro)),
    currency: 'USD',
    is_free: micro === 0n,
  };
}
