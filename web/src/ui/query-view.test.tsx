import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it, vi } from 'vitest';
import { ApiError } from '../lib/api/api-error.ts';
import { QueryView, type ViewedQuery } from './query-view.tsx';

const online = vi.hoisted(() => ({ value: true }));
vi.mock('../lib/live/online.ts', async (original) => ({
  ...(await original<typeof import('../lib/live/online.ts')>()),
  useOnline: () => online.value,
}));
afterEach(() => {
  online.value = true;
});

const query: ViewedQuery<string[]> = {
  data: undefined,
  error: null,
  isError: false,
  isFetching: false,
  errorUpdateCount: 0,
  dataUpdatedAt: 0,
  refetch: vi.fn<() => void>(),
};
const failed = { error: new Error('The disk is on fire'), isError: true };

function show(state: Partial<typeof query>, missing?: string) {
  return render(
    <QueryView
      query={{ ...query, ...state }}
      failed="Your things could not be loaded"
      pending="Loading"
      missing={missing}
      isEmpty={(things) => things.length === 0}
      empty="None yet"
    >
      {(things) => things.join(', ')}
    </QueryView>,
  ).container.textContent;
}

it('renders each state', () => {
  expect(show({})).toBe('Loading');
  expect(show({ data: [] })).toBe('None yet');
  expect(show({ data: ['one', 'two'] })).toBe('one, two');
});

it('shows the error and retries', () => {
  expect(show(failed)).toContain('Your things could not be loadedThe disk is on fire');
  screen.getByRole('button', { name: 'Try again' }).click();
  expect(query.refetch).toHaveBeenCalledOnce();
});

it('uses the error as page title if the page is about the failed resource', () => {
  show(failed, 'There is no such thing');
  const title = screen.getByRole('heading', { level: 1 });
  expect(title.textContent).toBe('Your things could not be loaded');
});

it('distinguishes missing from failed', () => {
  const gone = { error: new ApiError('No thing has this id', { status: 404 }), isError: true };
  expect(show(gone, 'There is no such thing')).toBe('There is no such thing');
  expect(show(failed, 'There is no such thing')).toContain('The disk is on fire');
  // Existed before, and was deleted since.
  expect(show({ ...gone, data: ['one'] }, 'There is no such thing')).toBe('There is no such thing');
});

it('treats a malformed id as missing, but no other bad request', () => {
  const refused = (param: string) => ({
    error: new ApiError('Not so', { status: 400, param }),
    isError: true,
  });
  expect(show(refused('runId'), 'There is no such thing')).toBe('There is no such thing');
  expect(show(refused('limit'), 'There is no such thing')).toContain('Not so');
});

it('keeps showing stale data with its age when a refetch fails', () => {
  const old = { data: ['one'], dataUpdatedAt: Date.now() - 5 * 60_000, ...failed };
  const text = show(old);
  expect(text).toContain('Last updated 5 minutes ago. Refreshing failed: The disk is on fire');
  expect(text).toContain('one');
  expect(screen.getByRole('status').textContent).toContain('Refreshing failed');
  expect(screen.getByRole('button', { name: 'Try again' })).toBeTruthy();
});

it('shows only the age while the server is unreachable', () => {
  online.value = false;
  expect(show({ data: ['one'], dataUpdatedAt: Date.now() - 5 * 60_000, ...failed })).toBe(
    'Last updated 5 minutes ago.one',
  );
});

it('leaves next-page errors to the pager', () => {
  expect(show({ data: ['one'], ...failed, isFetchNextPageError: true })).toBe('one');
});

it('keeps the retry button and its focus during the retry', async () => {
  const answers = [Promise.withResolvers<string[]>(), Promise.withResolvers<string[]>()];
  let asked = 0;
  function Things() {
    const things = useQuery({
      queryKey: ['things'],
      queryFn: () => answers[asked++]?.promise,
      retry: false,
    });
    return (
      <QueryView query={things} failed="Your things could not be loaded" pending="Loading">
        {(read) => read?.join(', ')}
      </QueryView>
    );
  }
  const { container } = render(
    <QueryClientProvider client={new QueryClient()}>
      <Things />
    </QueryClientProvider>,
  );
  expect(container.textContent).toBe('Loading');
  await act(async () => answers[0]?.reject(new Error('The disk is on fire')));
  const button = await screen.findByRole('button', { name: 'Try again' });
  await userEvent.click(button);
  expect(button.getAttribute('aria-busy')).toBe('true');
  expect(document.activeElement).toBe(button);
  expect(screen.getByRole('alert').textContent).toContain('The disk is on fire');
  await act(async () => answers[1]?.resolve(['one']));
  await vi.waitFor(() => expect(container.textContent).toBe('one'));
});
