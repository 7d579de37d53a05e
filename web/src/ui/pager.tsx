import { useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react';
import { Button } from './button.tsx';

/** What an infinite query says about its next page. */
export type Pages = {
  hasNextPage: boolean;
  isFetching: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: Error | null;
  /** Must not cancel what is read again meanwhile: that change would be lost. */
  fetchNextPage: (options: { cancelRefetch: false }) => unknown;
};

/**
 * The end of a paged list: fetches the next page by itself as it comes into sight, and says why one did not come.
 * The button serves the keyboard, and whoever wants to try again. Nothing when all is shown.
 */
export function Pager({ pages }: { pages: Pages }) {
  return pages.hasNextPage ? <NextPage pages={pages} /> : null;
}

function NextPage({ pages }: { pages: Pages }) {
  const { isFetching, isFetchingNextPage, isFetchNextPageError, error } = pages;
  const end = useRef<HTMLDivElement>(null);
  const goOn = () => void pages.fetchNextPage({ cancelRefetch: false });
  const reached = useEffectEvent(goOn);
  // After a failure nothing is asked for until the person asks again: it would go on without end.
  const waits = isFetching || isFetchNextPageError;
  // Observed anew after each reading: where it brought little, the end may still be in sight.
  useEffect(() => {
    if (waits || !end.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && reached(), {
      rootMargin: '600px',
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [waits]);
  // With the last page the button goes: the keyboard stays at the list instead of falling to the top of the page.
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
        <p role="alert" className="text-[0.8125rem] text-bad">
          The rest could not be loaded: {error?.message}
        </p>
      )}
      <Button size="sm" loading={isFetchingNextPage} onClick={goOn}>
        {isFetchNextPageError ? 'Try again' : 'Load more'}
      </Button>
    </div>
  );
}
