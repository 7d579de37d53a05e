import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { PriceId } from '../../credits/prices/prices.ts';
import type { UpstreamVideo } from '../../providers/upstream-videos.ts';

type PriceOf = (parameters: GenerationParameters) => PriceId;

/** Price per second of each generator's videos at a service. Includes sound that cannot be disabled. */
export const videoPrices: Record<UpstreamVideo, PriceOf> = {
  veo: ({ generate_audio: sound }) => (sound === false ? 'videos:veo-silent' : 'videos:veo'),
  seedance: ({ quality }) => {
    if (quality === '480p') return 'videos:seedance-480p';
    return quality === '1080p' ? 'videos:seedance-1080p' : 'videos:seedance-720p';
  },
  kling: () => 'videos:kling',
  hailuo: () => 'videos:hailuo',
  wan: () => 'videos:wan',
};
