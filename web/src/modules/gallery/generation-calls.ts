import {
  cancelGeneration,
  type Generation,
  type GenerationParameters,
  quoteGeneration,
  startGeneration,
} from '@bakehouse/contract/generations';
import { type GeneratorName, makesVideos } from '@bakehouse/contract/generators';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { useIdempotencyKeys } from '../../lib/api/idempotency-key.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { refetchQueries, refetchRows } from '../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { useDebounced } from '../../lib/use-debounced.ts';
import { expectEnd } from '../../ui/long-work.ts';
import type { FailureOptions } from '../../ui/notify-failure.ts';
import type { OnUpload } from './edit-picture/send-source.ts';
import type { Mask, Source } from './edit-picture/source.ts';
import {
  arePollsOver,
  EDIT_POLL_MS,
  generationQuery,
  isResponseLost,
  LISTS,
  lostResponseError,
  POLL_MS,
  SEEDANCE_POLL_MS,
} from './generation-queries.ts';
import { workId } from './generation-sentences.ts';

/* Calls for generations: reading, starting, cancelling, deleting and downloading. */

const START_TIMEOUT_MS = 35_000;
const QUOTES = ['quote'];
const FAMILY = ['generation'];

/** One generation, live; `known` is a placeholder until it is read. With null, none is read. */
export function useGeneration(id: string | null, known?: Generation) {
  const interval = useFallbackInterval(POLL_MS);
  return useQuery({
    ...generationQuery(id ?? ''),
    enabled: id !== null,
    placeholderData: known,
    // The interval retries.
    ...(interval !== false && { retry: false }),
    refetchInterval: (query) =>
      query.state.data?.ended_at || arePollsOver(query) ? false : interval && pollMsOf(query.state.data),
  });
}

/** Returns the poll interval while the event stream is down. */
function pollMsOf(generation: Generation | undefined): number {
  if (generation?.generator === 'seedance') return SEEDANCE_POLL_MS;
  return generation?.source && !makesVideos(generation.generator) ? EDIT_POLL_MS : POLL_MS;
}

export type GenerationRequest = {
  generator: GeneratorName;
  prompt: string;
  parameters: GenerationParameters;
  /** Name of the user's deployment that generates. */
  model?: string;
  /** Title of the service that generates. */
  service?: string;
  /** The picture to edit. */
  source?: Source;
  /** The area of the picture to change, if the model takes one. */
  mask?: Mask;
  /** True if the model takes a mask. */
  takesMask?: boolean;
  onUpload?: OnUpload;
  /** The displayed price in BGL; the server rejects a higher one. */
  shownCost?: string | undefined;
};

/**
 * Starts a generation, after uploading its source. If the response is lost, the generation may have started:
 * the lists are reloaded, and a retry with the same input is not charged twice.
 */
export function useStartGeneration(words: FailureOptions = { product: 'Image Generation' }) {
  const keys = useIdempotencyKeys('generation');
  return useMutation({
    mutationFn: async ({
      source,
      mask,
      takesMask = false,
      onUpload = () => undefined,
      shownCost,
      ...request
    }: GenerationRequest) => {
      // Most generations have no source.
      const sources = source && (await import('./edit-picture/send-source.ts'));
      const maskId = source && takesMask ? await sources?.sendMask(source, mask) : undefined;
      const body = {
        ...request,
        ...(source && (await sources?.sendSource(source, onUpload))),
        ...(maskId !== undefined && { mask_id: maskId }),
      };
      const costMax = shownCost ?? (await readCost(request));
      try {
        const generation = await call(
          startGeneration,
          { body: { ...body, ...(costMax !== undefined && { cost_max: costMax }) } },
          { idempotencyKey: keys.keyFor(body), timeoutMs: START_TIMEOUT_MS },
        );
        keys.renew(body);
        return generation;
      } catch (error) {
        if (source && error instanceof ApiError && ['picture_id', 'mask_id'].includes(String(error.param)))
          sources?.clearUploaded(source, mask);
        if (!isResponseLost(error)) throw error;
        refetchQueries(FAMILY);
        throw lostResponseError(error, 'Generation timed out. Please try again.');
      }
    },
    // Shows the current price before a retry.
    onError: () => queryClient.invalidateQueries({ queryKey: QUOTES }),
    onSuccess: (generation) => {
      expectEnd(workId(generation.id));
      cacheGeneration(generation);
    },
    meta: words,
  });
}

/**
 * Caches a write's response and refetches it, because a response can arrive after the event of a later
 * change.
 */
function cacheGeneration(generation: Generation): void {
  const { queryKey } = generationQuery(generation.id);
  queryClient.setQueryData(queryKey, generation);
  refetchQueries(queryKey);
  refetchRows(LISTS, [generation.id]);
}

export function useCancelGeneration() {
  return useMutation({
    mutationFn: (id: string) => call(cancelGeneration, { params: { id } }),
    onSuccess: cacheGeneration,
  });
}

/** The inputs of a price. */
type Quoted = Pick<GenerationRequest, 'generator' | 'model' | 'service' | 'parameters'>;

const quoteQuery = (asked: string) =>
  endpointQuery([...QUOTES, asked], quoteGeneration, { body: JSON.parse(asked) as Quoted });

const quoted = ({ generator, model, service, parameters }: Quoted) =>
  JSON.stringify({ generator, model, service, parameters });

/**
 * Returns the price of a request that was not displayed yet; undefined if it fails, and the server's price
 * applies.
 */
async function readCost(request: Quoted): Promise<string | undefined> {
  try {
    return (await queryClient.fetchQuery(quoteQuery(quoted(request)))).cost;
  } catch {
    return undefined;
  }
}

/** The price of these parameters. While they change, the previous price stays displayed and applies. */
export function useQuote(request: Quoted, enabled: boolean) {
  const asked = quoted(request);
  // Values entered before the provider is known are not quoted.
  const settled = useDebounced(asked, enabled);
  const quote = useQuery({ ...quoteQuery(settled), enabled, placeholderData: keepPreviousData });
  return {
    ...quote,
    isSettled: settled === asked && !quote.isPlaceholderData,
    shownCost: quote.isError ? undefined : quote.data?.cost,
  };
}
