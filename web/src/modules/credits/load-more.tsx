import { useEffect, useEffectEvent, useRef } from 'react';
import { Button } from '../../ui/button.tsx';

export type MoreProps = { hasMore: boolean; isLoadingMore: boolean; onMore: () => void };

/** The end of a paged list: fetches the next page as it comes into sight; the button serves the keyboard. */
export function LoadMore({ hasMore, isLoadingMore, onMore }: MoreProps) {
  const end = useRef<HTMLDivElement>(null);
  const reached = useEffectEvent(() => {
    if (hasMore) onMore();
  });
  // Observed anew after each page: where it brought little, the end may still be in sight.
  useEffect(() => {
    if (isLoadingMore || !end.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && reached(), {
      rootMargin: '600px',
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [isLoadingMore]);
  return (
    <div ref={end}>
      {hasMore && (
        <div className="flex justify-center py-4">
          <Button size="sm" loading={isLoadingMore} onClick={onMore}>
            Load more
          </Button>
        </div>
      )}
    </div>
  );
}
