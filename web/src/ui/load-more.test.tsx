import { render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LoadMore, moreOf } from './load-more.tsx';

const observed: IntersectionObserverCallback[] = [];
beforeEach(() => {
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

const pages = {
  hasNextPage: true,
  isFetchingNextPage: false,
  isFetchNextPageError: false,
  error: null,
  fetchNextPage: vi.fn<() => void>(),
};

it('asks for the next page as its end comes into sight', () => {
  render(<LoadMore {...moreOf(pages)} />);
  expect(pages.fetchNextPage).toHaveBeenCalledOnce();
});

it('says why a page did not come, and waits for the person', () => {
  pages.fetchNextPage.mockClear();
  const { rerender } = render(<LoadMore {...moreOf({ ...pages, isFetchingNextPage: true })} />);
  const failed = { ...pages, isFetchNextPageError: true, error: new Error('The disk is on fire') };
  rerender(<LoadMore {...moreOf(failed)} />);
  expect(screen.getByRole('alert').textContent).toContain('The disk is on fire');
  expect(pages.fetchNextPage).not.toHaveBeenCalled();
  screen.getByRole('button', { name: 'Try again' }).click();
  expect(pages.fetchNextPage).toHaveBeenCalledOnce();
});
