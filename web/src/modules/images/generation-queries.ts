import {
  type Generation,
  type GenerationState,
  getGeneration,
  listGenerations,
} from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';

export const POLL_MS = 3_000;
export const POLLS_MAX = 40;
const POLL_TIMEOUT_MS = 15_000;

/** What a list of generations is narrowed to. */
export type GenerationSearch = {
  generator?: GeneratorName | undefined;
  state?: GenerationState | undefined;
  /** Part of the prompt. */
  search?: string | undefined;
  /** On a page of the list; as many as the server gives unless said. */
  limit?: number;
};

/** The user's generations page by page, newest first. */
export const generationsQuery = (userId: string, wanted: GenerationSearch = {}) =>
  infiniteQueryOptions({
    queryKey: ['generation', 'list', userId, wanted],
    queryFn: ({ pageParam, signal }) =>
      call(
        listGenerations,
        { params: { userId }, query: { ...wanted, cursor: pageParam ?? undefined } },
        { signal, operation: 'fetch generations' },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });

/** All that can be under way, and what has lately ended. */
export const recentGenerationsQuery = (userId: string) => generationsQuery(userId, { limit: 10 });

/** One generation. Read so often without an answer, it says that it has waited long enough. */
export const generationQuery = (id: string) =>
  queryOptions({
    queryKey: ['generation', 'one', id],
    queryFn: async ({ signal, client }): Promise<Generation> => {
      try {
        return await call(
          getGeneration,
          { params: { id } },
          { signal, timeoutMs: POLL_TIMEOUT_MS, operation: 'fetch the generation' },
        );
      } catch (error) {
        const failed = client.getQueryState(['generation', 'one', id])?.errorUpdateCount ?? 0;
        throw isUnanswered(error) && failed + 1 >= POLLS_MAX ? timedOut(true) : error;
      }
    },
  });

/** Whether the call may have been heard, and its answer was lost. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 408) && error.code !== 'no_key';
}

export function timedOut(afterMany = false): ApiError {
  const often = afterMany ? ' after multiple attempts' : '';
  return new ApiError(`Generation timed out${often}. Please try again.`, { status: 408, code: 'timeout' });
}
