import { render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Pager } from './pager.tsx';

const observed: IntersectionObserverCallback[] = [];
const pages = {
  hasNextPage: true,
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

it('asks for the next page as its end comes into sight', () => {
  render(<Pager pages={pages} />);
  expect(pages.fetchNextPage).toHaveBeenCalledOnce();
});

it('shows nothing once all is there', () => {
  const { container } = render(<Pager pages={{ ...pages, hasNextPage: false }} />);
  expect(container.textContent).toBe('');
  expect(pages.fetchNextPage).not.toHaveBeenCalled();
});

it('says why a page did not come, and waits for the person', () => {
  const { rerender } = render(<Pager pages={{ ...pages, isFetchingNextPage: true }} />);
  rerender(
    <Pager pages={{ ...pages, isFetchNextPageError: true, error: new Error('The disk is on fire') }} />,
  );
  expect(screen.getByRole('alert').textContent).toContain('The disk is on fire');
  expect(pages.fetchNextPage).not.toHaveBeenCalled();
  screen.getByRole('button', { name: 'Try again' }).click();
  expect(pages.fetchNextPage).toHaveBeenCalledOnce();
});

it('leaves the keyboard at the list when the last page has come', () => {
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
