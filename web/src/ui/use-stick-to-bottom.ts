import { type UIEvent, useCallback, useRef } from 'react';

/** Tolerance in pixels for being at the end. */
const END_PX = 24;

/**
 * Keeps the end of a scrolling box visible as its content grows, unless the user has scrolled up. `follow`
 * resumes.
 */
export function useStickToBottom() {
  const box = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const scrolledTo = useRef(0);

  const follow = useCallback(() => {
    following.current = true;
    if (!box.current) return;
    box.current.scrollTop = box.current.scrollHeight;
    scrolledTo.current = box.current.scrollTop;
  }, []);
  // Content can also grow without new text: late formatting, or a tab becoming visible. A callback, because the
  // content may mount later than the caller.
  const content = useCallback(
    (element: HTMLDivElement) => {
      const grown = new ResizeObserver(() => following.current && follow());
      grown.observe(element);
      return () => grown.disconnect();
    },
    [follow],
  );

  const onScroll = ({ currentTarget: at }: UIEvent<HTMLElement>) => {
    const isAtEnd = at.scrollHeight - at.scrollTop - at.clientHeight < END_PX;
    // The end may have moved before the scroll event arrives: only scrolling up stops following.
    following.current = isAtEnd || (following.current && at.scrollTop >= scrolledTo.current);
    scrolledTo.current = at.scrollTop;
  };
  return { box, content, onScroll, follow };
}
