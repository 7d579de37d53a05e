import type { Generation } from '@bakehouse/contract/generations';
import { QueryClientProvider } from '@tanstack/react-query';
import { renderHook, waitFor } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { generationQuery, generationsQuery, generationWorkQuery } from './generation-queries.ts';
import { FakeApi } from './testing/fake-api.ts';
import { generationOf, unfinished } from './testing/generation-of.ts';
import { useFollowedGenerations } from './use-followed-generations.ts';

const server = vi.hoisted(() => ({ api: null as FakeApi | null }));
vi.mock('../../lib/api/api-client.ts', () => ({
  call: (...input: Parameters<FakeApi['call']>) => server.api?.call(...input),
}));

const LIST = '/api/v1/users/:userId/generations';
const ONE = '/api/v1/generations/:id';

let api: FakeApi;
beforeEach(async () => {
  queryClient.clear();
  api = new FakeApi();
  server.api = api;
  api.generations = [unfinished(), generationOf({ id: 'g0' })];
});

const callsOf = (path: string) => api.calls.filter((call) => call.path === path).length;

/** What the server has now, as an event has the pages read it. */
async function become(changed: Generation): Promise<void> {
  api.generations = api.generations.map((one) => (one.id === changed.id ? changed : one));
  await queryClient.invalidateQueries({ queryKey: generationQuery(changed.id).queryKey });
}

async function watchRecent() {
  const { result } = renderHook(() => useFollowedGenerations('u1'), {
    wrapper: ({ children }) => <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>,
  });
  await waitFor(() => expect(result.current).toHaveLength(2));
  // Only the one that is under way is watched.
  await waitFor(() => expect(callsOf(ONE)).toBe(1));
  return result;
}

test('each step is read from the one that is generated, and no list for it; its end is read in the lists', async () => {
  const recent = await watchRecent();
  await become(unfinished({ step: 9 }));
  await waitFor(() => expect(recent.current[0]?.step).toBe(9));
  expect(callsOf(LIST)).toBe(1);

  await become(generationOf());
  await waitFor(() => expect(callsOf(LIST)).toBe(2));
  expect(recent.current[0]?.state).toBe('completed');
});

test('one that was cancelled on another page is so here, and is not watched any more', async () => {
  const recent = await watchRecent();
  await become(unfinished({ state: 'cancelled', ended_at: '2026-01-01T00:01:00.000Z' }));
  await waitFor(() => expect(recent.current[0]?.state).toBe('cancelled'));
  expect(callsOf(LIST)).toBe(2);
  const reads = callsOf(ONE);
  await queryClient.invalidateQueries({ queryKey: generationQuery('g1').queryKey });
  expect(callsOf(ONE)).toBe(reads);
});

test('a list that is to be read again stays so while a step is written into the others', async () => {
  const gallery = generationsQuery('u1', { generator: 'paris' });
  await queryClient.fetchInfiniteQuery(gallery);
  const recent = await watchRecent();
  await queryClient.invalidateQueries({ queryKey: gallery.queryKey });
  await become(unfinished({ step: 9 }));
  await waitFor(() => expect(recent.current[0]?.step).toBe(9));
  expect(queryClient.getQueryState(gallery.queryKey)?.isInvalidated).toBe(true);
  expect(queryClient.getQueryState(generationWorkQuery('u1').queryKey)?.isInvalidated).toBe(false);
});

test('one that was deleted elsewhere leaves the lists', async () => {
  const recent = await watchRecent();
  api.generations = api.generations.slice(1);
  await queryClient.invalidateQueries({ queryKey: generationQuery('g1').queryKey });
  await waitFor(() => expect(recent.current.map(({ id }) => id)).toEqual(['g0']));
});
