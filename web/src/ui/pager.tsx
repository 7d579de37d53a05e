import { useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react';
import { Button } from './button.tsx';

/** The next-page state of an infinite query. */
export type Pages = {
  hasNextPage: boolean;
  isFetching: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: Error | null;
  /** Must not cancel a refetch in progress: its changes would be lost. */
  fetchNextPage: (options: { cancelRefetch: false }) => unknown;
};

/**
 * The end of a paginated list. Loads the next page when it scrolls into view and shows load errors. The
 * button is for keyboard users and retries. Renders nothing once everything is loaded.
 */
export function Pager({ pages }: { pages: Pages }) {
  return pages.hasNextPage ? <NextPage pages={pages} /> : null;
}

function NextPage({ pages }: { pages: Pages }) {
  const { isFetching, isFetchingNextPage, isFetchNextPageError, error } = pages;
  const end = useRef<HTMLDivElement>(null);
  const loadNext = () => void pages.fetchNextPage({ cancelRefetch: false });
  const reached = useEffectEvent(loadNext);
  // Stop after a failure until the user retries, else it would loop forever.
  const waits = isFetching || isFetchNextPageError;
  // Observe again after every fetch: after a short page the end may still be visible.
  useEffect(() => {
    if (waits || !end.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && reached(), {
      rootMargin: '600px',
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [waits]);
  // The button disappears with the last page. Keep the focus at the list instead of losing it to the top of
  // the page.
  useLayoutEffect(() => {
    const element = end.current;
    return () => {
      const list = element?.previousElementSibling;
      if (!(list instanceof HTMLElement) || !element?.contains(document.activeElement)) return;
      list.tabIndex = -1;
      list.focus({ preventScroll: true });
    };
  }, []);
  return (
    <div ref={end} className="flex flex-col items-center gap-2 px-5 py-4 text-center">
      {isFetchNextPageError && (
        <p role="alert" className="text-compact text-bad">
          The rest could not be loaded: {error?.message}
        </p>
      )}
      <Button size="sm" loading={isFetchingNextPage} onClick={loadNext}>
        {isFetchNextPageError ? 'Try again' : 'Load more'}
      </Button>
    </div>
  );
}
