import { useQuery } from '@tanstack/react-query';
import { pricesQuery } from '../billing/credit-queries.ts';
import { useMachine } from '../machines/machine-queries.ts';

export type ServingDevice = 'CPU' | 'GPU';
type ServingPrice = 'text_serving' | 'prompt_tokens' | 'completion_tokens';

/** Returns the device that would serve a text model here; undefined while loading. */
export function useServingDevice(): ServingDevice | undefined {
  const { data } = useMachine();
  return data && (data.serves_text_on_gpus ? 'GPU' : 'CPU');
}

/** Returns BGL per hour or per million tokens; undefined while loading. */
export function useServingPrice(of: ServingPrice, device: ServingDevice | undefined): string | undefined {
  const prices = useQuery(pricesQuery);
  return prices.data?.prices.find(({ id }) => id === `${of}:${device}`)?.unit_price;
}
