import type { GenerationParameters } from '@bakehouse/contract/generations';
import { requestedPictureCount } from '@bakehouse/contract/generators/parameters/requested-picture-count';
import { costMicro } from '../../billing/prices/cost.ts';
import type { PriceId, PriceList } from '../../billing/prices/prices.ts';
import type { Upstream } from '../../providers/find-upstreams.ts';
import type { UpstreamVideo } from '../../providers/upstream-videos.ts';
import { localGenerator } from '../generators/local-generators.ts';
import type { GenerationRequest } from './generation-request.ts';

/** Price per second of each generator's videos at a service. Includes sound that cannot be disabled. */
const videoPrices: Record<UpstreamVideo, PriceOf> = {
  veo: ({ generate_audio: sound }) => (sound === false ? 'videos:veo-silent' : 'videos:veo'),
  seedance: ({ quality }) => {
    if (quality === '480p') return 'videos:seedance-480p';
    return quality === '1080p' ? 'videos:seedance-1080p' : 'videos:seedance-720p';
  },
  kling: () => 'videos:kling',
  hailuo: () => 'videos:hailuo',
  wan: () => 'videos:wan',
};

type By =
  | { provider: 'own'; queue: string }
  | { provider: 'upstream'; upstream: Pick<Upstream, 'generator'> };

/**
 * Returns the price of a generation in micro-BGL; a service is priced per picture or per second of video.
 * Throws Error for an unsupported combination.
 */
export function costOfGeneration(
  prices: PriceList,
  by: By,
  { generator, parameters }: Pick<GenerationRequest, 'generator' | 'parameters'>,
): bigint {
  if (by.provider === 'upstream') return costAtService(prices, by.upstream.generator, parameters);
  const own = localGenerator(generator, by.queue);
  if (!own) throw new Error(`No local model serves ${generator}`);
  return own.cost(prices, parameters);
}

function costAtService(
  prices: PriceList,
  generator: Upstream['generator'],
  parameters: GenerationRequest['parameters'],
): bigint {
  if (isVideo(generator)) {
    const price = prices[videoPrices[generator](parameters)];
    return costMicro([{ price, parts: BigInt(Number(parameters.duration)) }]);
  }
  return costMicro([
    { price: prices[`images:${generator}`], parts: BigInt(requestedPictureCount(parameters)) },
  ]);
}

function isVideo(generator: Upstream['generator']): generator is UpstreamVideo {
  return generator in videoPrices;
}

type PriceOf = (parameters: GenerationParameters) => PriceId;
