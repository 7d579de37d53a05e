import type { Generation } from '@bakehouse/contract/generations';
import { QueryClientProvider } from '@tanstack/react-query';
import { renderHook, waitFor } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { ownWorkQuery } from '../../lib/live/own-work.ts';
import { generationQuery, generationsQuery } from './generation-queries.ts';
import { FakeApi } from './testing/fake-api.ts';
import { generationOf, unfinished } from './testing/generation-of.ts';
import { useFollowedGenerations } from './use-generation-work.ts';

const server = vi.hoisted(() => ({ api: null as FakeApi | null }));
vi.mock('../../lib/api/api-client.ts', () => ({
  call: (...input: Parameters<FakeApi['call']>) => server.api?.call(...input),
}));

const WORK = '/api/v1/work';
const ONE = '/api/v1/generations/:id';

let api: FakeApi;
beforeEach(async () => {
  queryClient.clear();
  api = new FakeApi();
  server.api = api;
  api.generations = [unfinished(), generationOf({ id: 'g0' })];
});

const callsOf = (path: string) => api.calls.filter((call) => call.path === path).length;

/** Changes the server's state and refetches, as an event would. */
async function become(changed: Generation): Promise<void> {
  api.generations = api.generations.map((one) => (one.id === changed.id ? changed : one));
  await queryClient.invalidateQueries({ queryKey: generationQuery(changed.id).queryKey });
}

async function watchRecent() {
  const { result } = renderHook(() => useFollowedGenerations('u1'), {
    wrapper: ({ children }) => <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>,
  });
  await waitFor(() => expect(result.current).toHaveLength(2));
  // Only unfinished generations are watched.
  await waitFor(() => expect(callsOf(ONE)).toBe(1));
  return result;
}

test('reads each step from the generation itself, and the work only at its end', async () => {
  const recent = await watchRecent();
  await become(unfinished({ step: 9 }));
  await waitFor(() => expect(recent.current[0]?.step).toBe(9));
  expect(callsOf(WORK)).toBe(1);

  await become(generationOf());
  await waitFor(() => expect(callsOf(WORK)).toBe(2));
  expect(recent.current[0]?.state).toBe('completed');
});

test('shows a cancellation from another page and stops watching', async () => {
  const recent = await watchRecent();
  await become(unfinished({ state: 'cancelled', ended_at: '2026-01-01T00:01:00.000Z' }));
  await waitFor(() => expect(recent.current[0]?.state).toBe('cancelled'));
  expect(callsOf(WORK)).toBe(2);
  const reads = callsOf(ONE);
  await queryClient.invalidateQueries({ queryKey: generationQuery('g1').queryKey });
  expect(callsOf(ONE)).toBe(reads);
});

test('writing a step does not clear the invalidation of other lists', async () => {
  const gallery = generationsQuery('u1', { generator: 'paris' });
  await queryClient.fetchInfiniteQuery(gallery);
  const recent = await watchRecent();
  await queryClient.invalidateQueries({ queryKey: gallery.queryKey });
  await become(unfinished({ step: 9 }));
  await waitFor(() => expect(recent.current[0]?.step).toBe(9));
  expect(queryClient.getQueryState(gallery.queryKey)?.isInvalidated).toBe(true);
  expect(queryClient.getQueryState(ownWorkQuery.queryKey)?.isInvalidated).toBe(false);
});

test('removes a generation that was deleted elsewhere from the lists', async () => {
  const recent = await watchRecent();
  api.generations = api.generations.slice(1);
  await queryClient.invalidateQueries({ queryKey: generationQuery('g1').queryKey });
  await waitFor(() => expect(recent.current.map(({ id }) => id)).toEqual(['g0']));
});
