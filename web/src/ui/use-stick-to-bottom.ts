import { type UIEvent, useCallback, useEffect, useRef } from 'react';

/** How far from its end a box may be, in pixels, and still be at it. */
const END_PX = 24;

/**
 * Keeps the end of a scrolling box in sight while its content grows, unless the person has scrolled up. `follow` takes
 * the box to its end again.
 */
export function useStickToBottom() {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const scrolledTo = useRef(0);

  const follow = useCallback(() => {
    following.current = true;
    if (!box.current) return;
    box.current.scrollTop = box.current.scrollHeight;
    scrolledTo.current = box.current.scrollTop;
  }, []);
  // It also grows by itself: its text gets a formatting, or another tab was shown.
  useEffect(() => {
    const grown = new ResizeObserver(() => following.current && follow());
    if (content.current) grown.observe(content.current);
    return () => grown.disconnect();
  }, [follow]);

  const onScroll = ({ currentTarget: at }: UIEvent<HTMLElement>) => {
    const isAtEnd = at.scrollHeight - at.scrollTop - at.clientHeight < END_PX;
    // The end may have moved on before its scroll is heard of: only a person scrolls up.
    following.current = isAtEnd || (following.current && at.scrollTop >= scrolledTo.current);
    scrolledTo.current = at.scrollTop;
  };
  return { box, content, onScroll, follow };
}
