import { useEffect, useEffectEvent, useRef } from 'react';
import { Button } from './button.tsx';

export type MoreProps = {
  hasMore: boolean;
  isLoadingMore: boolean;
  /** Why the next page did not come. Then nothing is asked for until the person asks again. */
  error?: Error | null;
  onMore: () => void;
};

/** What an infinite query says about its next page. */
type Pages = {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: Error | null;
  fetchNextPage: () => unknown;
};

/** The props of `LoadMore` and `MoreButton` for an infinite query. */
export function moreOf(pages: Pages): MoreProps {
  return {
    hasMore: pages.hasNextPage,
    isLoadingMore: pages.isFetchingNextPage,
    error: pages.isFetchNextPageError ? pages.error : null,
    onMore: () => void pages.fetchNextPage(),
  };
}

/** The end of a paged list: a button for the next page, and why the last attempt failed. Nothing when all is shown. */
export function MoreButton({ hasMore, isLoadingMore, error, onMore }: MoreProps) {
  if (!hasMore) return null;
  return (
    <div className="flex flex-col items-center gap-2 px-5 py-4 text-center">
      {error && !isLoadingMore && (
        <p role="alert" className="text-[0.8125rem] text-bad">
          The rest could not be loaded: {error.message}
        </p>
      )}
      <Button size="sm" loading={isLoadingMore} onClick={onMore}>
        {error ? 'Try again' : 'Load more'}
      </Button>
    </div>
  );
}

/** A `MoreButton` that fetches the next page by itself as it comes into sight; the button serves the keyboard. */
export function LoadMore(props: MoreProps) {
  const { hasMore, isLoadingMore, error, onMore } = props;
  const end = useRef<HTMLDivElement>(null);
  const reached = useEffectEvent(() => {
    if (hasMore) onMore();
  });
  const waits = isLoadingMore || Boolean(error);
  // Observed anew after each page: where it brought little, the end may still be in sight.
  useEffect(() => {
    if (waits || !end.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && reached(), {
      rootMargin: '600px',
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [waits]);
  return (
    <div ref={end}>
      <MoreButton {...props} />
    </div>
  );
}
