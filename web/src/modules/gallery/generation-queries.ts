import {
  type Generation,
  type GenerationState,
  getGeneration,
  listGenerations,
} from '@bakehouse/contract/generations';
import { type GeneratorName, makesVideos } from '@bakehouse/contract/generators';
import { type InfiniteData, type Query, type QueryClient, queryOptions } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { isConnected } from '../../lib/live/event-stream.ts';
import { type OwnWork, ownWorkQuery, useOwnWork } from '../../lib/live/own-work.ts';
import { pagedQuery } from '../../lib/live/paged-query.ts';
import { refetchRows } from '../../lib/mutation/refetch-queries.ts';

export const POLL_MS = 3_000;
export const EDIT_POLL_MS = 5_000;
/** Seedance takes minutes. */
export const SEEDANCE_POLL_MS = 15_000;
export const POLLS_MAX = 40;
const POLL_TIMEOUT_MS = 15_000;
export const LISTS = ['generation', 'list'];

/** Filters of a generation list. */
export type GenerationSearch = {
  generator?: GeneratorName | undefined;
  state?: GenerationState | undefined;
  /** Part of the prompt. */
  search?: string | undefined;
  /** Root id of an edit tree. */
  root?: string;
  /** Page size. Defaults to the server's limit. */
  limit?: number;
};

/** Returns the filter of a generator's history: the latest 20, or 100 of Veo. */
export const historyOf = (generator: GeneratorName): GenerationSearch => ({
  generator,
  ...(generator === 'veo' && { limit: 100 }),
});

/** Pages through the user's generations, newest first. */
export const generationsQuery = (userId: string, wanted: GenerationSearch = {}) =>
  pagedQuery({
    queryKey: [...LISTS, userId, wanted],
    rows: 'generations',
    id: 'id',
    newestFirst: wanted.state === undefined,
    read: (cursor, signal) =>
      call(listGenerations, { params: { userId }, query: { ...wanted, cursor } }, { signal }),
  });

/** The latest of all generators. */
export const recentGenerationsQuery = (userId: string) => generationsQuery(userId, { limit: 10 });

/** Returns all unfinished and recently ended generations; empty while loading. */
export function useRecentGenerations(userId: string | undefined): Generation[] {
  return useOwnWork('generations', { enabled: userId !== undefined }) ?? [];
}

/**
 * One generation; also updates the lists with its latest state. Fails after `POLLS_MAX` fallback polls; for a
 * video, which takes longer, after as many without an answer.
 */
export const generationQuery = (id: string) =>
  queryOptions({
    queryKey: ['generation', 'one', id],
    queryFn: async ({ signal, client }): Promise<Generation> => {
      const query = client.getQueryCache().find({ queryKey: ['generation', 'one', id] });
      const isLast = countPoll(query) >= POLLS_MAX;
      try {
        const generation = await call(
          getGeneration,
          { params: { id } },
          { signal, timeoutMs: POLL_TIMEOUT_MS },
        );
        updateLists(client, generation);
        if (generation.ended_at || makesVideos(generation.generator)) resetPolls(query);
        else if (isLast) throw new ApiError(TIMED_OUT, { status: 408, code: 'timeout' });
        return generation;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) refetchRows(LISTS, [id]);
        throw isLast && isResponseLost(error) ? lostResponseError(error, TIMED_OUT) : error;
      }
    },
  });

const TIMED_OUT = 'Generation timed out after multiple attempts. Please try again.';

/** Number of fallback polls per query. */
const polls = new WeakMap<object, number>();

/** Returns the number of this poll, restarting at 1 after the last. 0 while the event stream is connected. */
function countPoll(query: object | undefined): number {
  if (!query) return 0;
  const count = isConnected() ? 0 : arePollsOver(query) ? 1 : (polls.get(query) ?? 0) + 1;
  polls.set(query, count);
  return count;
}

function resetPolls(query: object | undefined): void {
  if (query) polls.delete(query);
}

export function arePollsOver(query: object): boolean {
  return (polls.get(query) ?? 0) >= POLLS_MAX;
}

/**
 * Writes a generation's progress into the lists. If its state changed, the filtered lists may change too, so
 * they are reloaded.
 */
function updateLists(client: QueryClient, generation: Generation): void {
  const knownIn = (all: readonly Generation[] = []) => all.find(({ id }) => id === generation.id);
  const write = (all: Generation[]) => all.map((one) => (one.id === generation.id ? generation : one));
  const pages = client.getQueriesData<GenerationPages>({ queryKey: LISTS });
  const lists = [
    client.getQueryData(ownWorkQuery.queryKey)?.generations,
    ...pages.map(([, data]) => data && allOf(data)),
  ];
  const hasMoved = lists.some((all) => (knownIn(all)?.state ?? generation.state) !== generation.state);
  // setQueriesData marks queries as fresh, so invalidated ones are skipped.
  const predicate = ({ state }: Query) => !state.isInvalidated;
  client.setQueriesData<OwnWork>(
    { queryKey: ownWorkQuery.queryKey, predicate },
    (work) => work && knownIn(work.generations) && { ...work, generations: write(work.generations) },
  );
  client.setQueriesData<GenerationPages>(
    { queryKey: LISTS, predicate },
    (data) => data && knownIn(allOf(data)) && mapGenerations(data, write),
  );
  if (hasMoved) refetchRows(LISTS, [generation.id]);
}

export type GenerationPages = InfiniteData<{ generations: Generation[] }>;

/** Returns the generations of all pages. */
export const allOf = ({ pages }: GenerationPages): Generation[] =>
  pages.flatMap(({ generations }) => generations);

/** Returns the list pages with their generations mapped. */
export function mapGenerations<Data extends GenerationPages>(
  data: Data,
  map: (generations: Generation[]) => Generation[],
): Data {
  return {
    ...data,
    pages: data.pages.map((page) => ({ ...page, generations: map(page.generations) })),
  };
}

/** Returns true if the server may have received the call although its response was lost. */
export function isResponseLost(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 0 || error.status === 408) && error.code !== 'no_key';
}

/** Returns the error to show: an unreachable server is not a timeout. */
export function lostResponseError(error: ApiError, sentence: string): ApiError {
  const isAway = error.code === 'network' || error.code === 'lookup';
  return isAway ? error : new ApiError(sentence, { status: 408, code: 'timeout' });
}
