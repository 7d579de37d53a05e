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
import { readAgain, readRowsAgain } from '../../lib/mutation/read-again.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { useDebounced } from '../../lib/use-debounced.ts';
import { awaitEnd } from '../../ui/long-work.ts';
import type { FailureOptions } from '../../ui/notify-failure.ts';
import type { OnUpload } from './edit-picture/send-source.ts';
import type { Source } from './edit-picture/source.ts';
import {
  arePollsOver,
  EDIT_POLL_MS,
  generationQuery,
  isAnswerLost,
  LISTS,
  lostAnswer,
  POLL_MS,
  SEEDANCE_POLL_MS,
} from './generation-queries.ts';
import { workId } from './generation-sentences.ts';

/*
 * What the pages ask the server for. What is asked once something has been made, deletion-calls.ts and video-calls.ts, comes
 * apart: this is on the first screen of a generator.
 */

const START_TIMEOUT_MS = 35_000;
const QUOTES = ['quote'];
const FAMILY = ['generation'];

/** One generation while it is generated and afterwards; `known` stands in until it is read. */
export function useGeneration(id: string, known?: Generation) {
  const interval = useFallbackInterval(POLL_MS);
  return useQuery({
    ...generationQuery(id),
    placeholderData: known,
    // It is asked again by the interval.
    ...(interval !== false && { retry: false }),
    refetchInterval: (query) =>
      query.state.data?.ended_at || arePollsOver(query) ? false : interval && pollMsOf(query.state.data),
  });
}

/** How often it is read again while nothing else tells how far it is. */
function pollMsOf(generation: Generation | undefined): number {
  if (generation?.generator === 'seedance') return SEEDANCE_POLL_MS;
  return generation?.source && !makesVideos(generation.generator) ? EDIT_POLL_MS : POLL_MS;
}

export type GenerationRequest = {
  generator: GeneratorName;
  prompt: string;
  parameters: GenerationParameters;
  /** The deployment of the person's own that generates, by its name. */
  model?: string;
  /** Or the service that generates, by its title. */
  service?: string;
  /** What is edited. */
  source?: Source;
  onUpload?: OnUpload;
  /** The price in sight, in BGL: what is asked for may cost no more. */
  shownCost?: string | undefined;
};

/**
 * Asks for a picture; what is edited is sent before. Where the answer is lost the generation may have begun all the same: the lists are read again,
 * and asking for the same once more is not charged twice.
 */
export function useStartGeneration(words: FailureOptions = { product: 'Image Generation' }) {
  const keys = useIdempotencyKeys('generation');
  return useMutation({
    mutationFn: async ({ source, onUpload = () => undefined, shownCost, ...request }: GenerationRequest) => {
      // Its code comes with the field for a source: most generations have none.
      const sources = source && (await import('./edit-picture/send-source.ts'));
      const body = { ...request, ...(source && (await sources?.sendSource(source, onUpload))) };
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
        if (source && error instanceof ApiError && error.param === 'picture_id') sources?.forgetSent(source);
        if (!isAnswerLost(error)) throw error;
        readAgain(FAMILY);
        throw lostAnswer(error, 'Generation timed out. Please try again.');
      }
    },
    // What it costs now is shown before it is asked for once more.
    onError: () => queryClient.invalidateQueries({ queryKey: QUOTES }),
    onSuccess: (generation) => {
      awaitEnd(workId(generation.id));
      keepAnswer(generation);
    },
    meta: words,
  });
}

/** Shows what a write answered, and reads it again: an answer can arrive after the event of a later change. */
function keepAnswer(generation: Generation): void {
  const { queryKey } = generationQuery(generation.id);
  queryClient.setQueryData(queryKey, generation);
  readAgain(queryKey);
  readRowsAgain(LISTS, [generation.id]);
}

export function useCancelGeneration() {
  return useMutation({
    mutationFn: (id: string) => call(cancelGeneration, { params: { id } }),
    onSuccess: keepAnswer,
  });
}

/** What a price is asked for. */
type Quoted = Pick<GenerationRequest, 'generator' | 'model' | 'service' | 'parameters'>;

const quoteQuery = (asked: string) =>
  endpointQuery([...QUOTES, asked], quoteGeneration, { body: JSON.parse(asked) as Quoted });

const quoted = ({ generator, model, service, parameters }: Quoted) =>
  JSON.stringify({ generator, model, service, parameters });

/** The price of what is asked for before one has been shown; undefined where it cannot be had: the server's own holds. */
async function readCost(request: Quoted): Promise<string | undefined> {
  try {
    return (await queryClient.fetchQuery(quoteQuery(quoted(request)))).cost;
  } catch {
    return undefined;
  }
}

/** What these parameters cost. While they change the last price stays in sight, and is the one that counts. */
export function useQuote(request: Quoted, enabled: boolean) {
  const asked = quoted(request);
  // What stands in a form before it is known who generates was never meant to have a price.
  const settled = useDebounced(asked, enabled);
  const quote = useQuery({ ...quoteQuery(settled), enabled, placeholderData: keepPreviousData });
  return {
    ...quote,
    isSettled: settled === asked && !quote.isPlaceholderData,
    shownCost: quote.isError ? undefined : quote.data?.cost,
  };
}
