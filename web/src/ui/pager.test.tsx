import { QueryClient, QueryClientProvider, useInfiniteQuery } from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Pager } from './pager.tsx';

const observed: IntersectionObserverCallback[] = [];
const pages = {
  hasNextPage: true,
  isFetching: false,
  isFetchingNextPage: false,
  isFetchNextPageError: false,
  error: null,
  fetchNextPage: vi.fn<() => void>(),
};

beforeEach(() => {
  pages.fetchNextPage.mockClear();
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(callback: IntersectionObserverCallback) {
        observed.push(callback);
      }
      observe() {
        const inSight = { isIntersecting: true } as IntersectionObserverEntry;
        observed.at(-1)?.([inSight], this as never);
      }
      disconnect() {}
    },
  );
});
afterEach(() => vi.unstubAllGlobals());

it('requests the next page when its end scrolls into view', () => {
  render(<Pager pages={pages} />);
  expect(pages.fetchNextPage).toHaveBeenCalledOnce();
});

it('shows nothing once everything is loaded', () => {
  const { container } = render(<Pager pages={{ ...pages, hasNextPage: false }} />);
  expect(container.textContent).toBe('');
  expect(pages.fetchNextPage).not.toHaveBeenCalled();
});

it('shows why a page failed and waits for a retry', () => {
  const { rerender } = render(<Pager pages={{ ...pages, isFetching: true, isFetchingNextPage: true }} />);
  rerender(
    <Pager pages={{ ...pages, isFetchNextPageError: true, error: new Error('The disk is on fire') }} />,
  );
  expect(screen.getByRole('alert').textContent).toContain('The disk is on fire');
  expect(pages.fetchNextPage).not.toHaveBeenCalled();
  screen.getByRole('button', { name: 'Try again' }).click();
  expect(pages.fetchNextPage).toHaveBeenCalledOnce();
});

it('keeps the keyboard focus in the list after the last page loads', () => {
  const list = (hasNextPage: boolean) => (
    <>
      <ul aria-label="Things" />
      <Pager pages={{ ...pages, hasNextPage }} />
    </>
  );
  const { rerender } = render(list(true));
  screen.getByRole('button', { name: 'Load more' }).focus();
  rerender(list(false));
  expect(document.activeElement).toBe(screen.getByRole('list', { name: 'Things' }));
});

it('scrolling during a refetch does not lose changes', async () => {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: 30_000 } } });
  let version = 1;
  const answers: (() => void)[] = [];
  const answer = async () => {
    await vi.waitFor(() => expect(answers).not.toEqual([]));
    await act(async () => answers.splice(0).forEach((come) => come()));
  };
  function List() {
    const list = useInfiniteQuery({
      queryKey: ['list'],
      queryFn: ({ pageParam }) =>
        new Promise<string>((resolve) => answers.push(() => resolve(`page ${pageParam}: ${version}`))),
      initialPageParam: 1,
      getNextPageParam: (_page, all) => (all.length < 3 ? all.length + 1 : null),
    });
    return (
      <>
        <p>{list.data?.pages.join(', ')}</p>
        <Pager pages={list} />
      </>
    );
  }
  vi.stubGlobal('IntersectionObserver', FarEnd);
  render(
    <QueryClientProvider client={client}>
      <List />
    </QueryClientProvider>,
  );
  await answer();
  (await screen.findByRole('button', { name: 'Load more' })).click();
  await answer();
  await screen.findByText('page 1: 1, page 2: 1');

  version = 2;
  await act(async () => void client.invalidateQueries());
  await act(async () => screen.getByRole('button', { name: 'Load more' }).click());
  await answer();
  await answer();
  expect(await screen.findByText(/^page 1: 2, page 2: 2/)).toBeTruthy();
});

/** The end of the list is never visible: only the button loads more. */
class FarEnd {
  observe() {}
  disconnect() {}
}
