import {
  cancelGeneration,
  deleteGeneration,
  type Generation,
  type GenerationParameters,
  quoteGeneration,
  startGeneration,
} from '@bakehouse/contract/generations';
import { type GeneratorName, makesVideos } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { deleteVideo, downloadVideo } from '@bakehouse/contract/videos';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call, callRaw } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { saveAs } from '../../lib/api/download.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { useIdempotencyKeys } from '../../lib/api/idempotency-key.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { countOf } from '../../lib/format/words.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { refetchQueries, refetchRows } from '../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { useDebounced } from '../../lib/use-debounced.ts';
import { announceEnd } from '../../ui/long-work.tsx';
import { errorMessage, type FailureOptions, notify } from '../../ui/notify.ts';
import type { OnUpload } from './edit-picture/send-source.ts';
import type { Source } from './edit-picture/source.ts';
import {
  arePollsOver,
  EDIT_POLL_MS,
  type GenerationPages,
  generationQuery,
  isResponseLost,
  LISTS,
  lostResponseError,
  mapGenerations,
  POLL_MS,
  SEEDANCE_POLL_MS,
} from './generation-queries.ts';
import { workId } from './generation-sentences.ts';

/* Calls of the generator pages' first screen. Actions on finished generations are in deletion-calls.ts and
   video-calls.ts, which load later. */

const START_TIMEOUT_MS = 35_000;

const QUOTES = ['quote'];
const FAMILY = ['generation'];

const quoteQuery = (asked: string) =>
  endpointQuery([...QUOTES, asked], quoteGeneration, { body: JSON.parse(asked) as Quoted });

const quoted = ({ generator, model, service, parameters }: Quoted) =>
  JSON.stringify({ generator, model, service, parameters });

/** Maximum number of concurrent deletions. */
const DELETED_AT_ONCE = 4;

/** Videos have at most some hundred megabytes. */
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;

/** One generation, live; `known` is a placeholder until it is read. */
export function useGeneration(id: string, known?: Generation) {
  const interval = useFallbackInterval(POLL_MS);
  return useQuery({
    ...generationQuery(id),
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

type GenerationRequest = {
  generator: GeneratorName;
  prompt: string;
  parameters: GenerationParameters;
  /** Name of the user's deployment that generates. */
  model?: string;
  /** Title of the service that generates. */
  service?: string;
  /** The picture to edit. */
  source?: Source;
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
    mutationFn: async ({ source, onUpload = () => undefined, shownCost, ...request }: GenerationRequest) => {
      // Loaded with the source field; most generations have no source.
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
        if (!isResponseLost(error)) throw error;
        refetchQueries(FAMILY);
        throw lostResponseError(error, 'Generation timed out. Please try again.');
      }
    },
    // Shows the current price before a retry.
    onError: () => queryClient.invalidateQueries({ queryKey: QUOTES }),
    onSuccess: (generation) => {
      announceEnd(workId(generation.id));
      keepAnswer(generation);
    },
    meta: words,
  });
}

/**
 * Caches a write's response and refetches it, because a response can arrive after the event of a later
 * change.
 */
function keepAnswer(generation: Generation): void {
  const { queryKey } = generationQuery(generation.id);
  queryClient.setQueryData(queryKey, generation);
  refetchQueries(queryKey);
  refetchRows(LISTS, [generation.id]);
}

export function useCancelGeneration() {
  return useMutation({
    mutationFn: (id: string) => call(cancelGeneration, { params: { id } }),
    onSuccess: keepAnswer,
  });
}

/** The inputs of a price. */
type Quoted = Pick<GenerationRequest, 'generator' | 'model' | 'service' | 'parameters'>;

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

export function useDeleteGeneration() {
  return useMutation({
    mutationFn: ({ id }: Generation) => call(deleteGeneration, { params: { id } }),
    onSuccess: (_, { id, generator }) => {
      notify.success(`${generators[generator].title} generation deleted successfully`);
      removeFromLists(id);
      refetchRows(LISTS, [id]);
    },
    meta: { title: 'Failed to delete generation' },
  });
}

/** Counts pictures; a generation may have several. */
export function countPictures(generations: readonly Pick<Generation, 'outputs'>[]): number {
  return generations.reduce((sum, { outputs }) => sum + outputs.length, 0);
}

/** Deletes generations and reports how many failed; those stay selected. */
export function useDeleteGenerations() {
  return useMutation({
    mutationFn: async (generations: readonly Generation[]) => {
      const waiting = [...generations];
      const kept: Generation[] = [];
      let failure: unknown;
      const work = async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          try {
            await deleteOne(next.id);
          } catch (error) {
            kept.push(next);
            failure ??= error;
          }
        }
      };
      await Promise.all(Array.from({ length: DELETED_AT_ONCE }, work));
      return { kept, failure };
    },
    onSuccess: ({ kept, failure }, generations) => {
      for (const generation of generations) if (!kept.includes(generation)) removeFromLists(generation.id);
      const all = countOf(countPictures(generations), 'picture');
      if (kept.length === 0) notify.success(`${all} deleted`);
      else
        notify.failure(`${countPictures(kept)} of ${all} could not be deleted`, {
          description: errorMessage(failure),
        });
      refetchRows(
        LISTS,
        generations.map(({ id }) => id),
      );
    },
  });
}

/** A missing generation counts as deleted. */
async function deleteOne(id: string): Promise<void> {
  try {
    await call(deleteGeneration, { params: { id } });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

/** Removes a generation from the cached lists immediately, before they are reloaded. */
function removeFromLists(id: string): void {
  queryClient.setQueriesData<GenerationPages>(
    { queryKey: LISTS },
    (data) => data && mapGenerations(data, (all) => all.filter((one) => one.id !== id)),
  );
  queryClient.removeQueries({ queryKey: generationQuery(id).queryKey });
}

/** Deletes a video through the videos API. */
export function useDeleteVideo() {
  return useMutation({
    mutationFn: async ({ id }: Generation) => {
      if (!id) throw new Error('Missing parameters for deletion');
      try {
        await call(deleteVideo, { params: { id } });
      } catch (error) {
        throw inVideoWords(error, 'Failed to delete video');
      }
    },
    onSuccess: (_, { id }) => {
      notify.success('Video deleted successfully');
      removeFromLists(id);
      refetchRows(LISTS, [id]);
    },
  });
}

/** Downloads a video through the videos API. */
export function useDownloadVideo() {
  return useMutation({
    mutationFn: async ({ id, generator }: Pick<Generation, 'id' | 'generator'>) => {
      try {
        const response = await callRaw(downloadVideo, { params: { id } }, { timeoutMs: DOWNLOAD_TIMEOUT_MS });
        saveAs(await response.blob(), `${generator}-${id.slice(-8)}.mp4`);
      } catch (error) {
        throw inVideoWords(error, 'Failed to download video');
      }
    },
    onSuccess: () => notify.success('Download completed'),
  });
}

/** Returns the page's message for the status; a 401 or 409 keeps the server's message. */
function inVideoWords(error: unknown, otherwise: string): Error {
  const status = error instanceof ApiError ? error.status : undefined;
  if (error instanceof ApiError && (status === 401 || status === 409)) return error;
  const sentences: Record<number, string> = {
    400: 'Video not ready for download',
    403: 'Permission denied',
    404: 'Video not found',
  };
  return new Error((status !== undefined && sentences[status]) || otherwise, { cause: error });
}
