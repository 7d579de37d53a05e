import type { listPrices } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';

export type Price = ResponseOf<typeof listPrices>['prices'][number];

/** Units after an amount. */
export const priceUnits: Record<Price['unit'], string> = {
  hour: 'per hour',
  million_tokens: 'per million tokens',
  thousand_expert_steps: 'per 1,000 expert steps',
  thousand_steps: 'per 1,000 steps',
  second: 'per second of video',
  image: 'per picture',
};
