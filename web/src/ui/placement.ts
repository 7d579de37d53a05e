import {
  type RefObject,
  type UIEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { notify } from './notify.ts';

/** Tolerance in pixels for being at the end. */
const END_PX = 24;

/** Lazy code: a `loadable`. */
export type Preloadable = { preload: () => Promise<void>; isLoaded: () => boolean };

/**
 * Opens lazy content immediately if it is loaded, else once it loads, unless the user presses Escape or moves
 * on first. Reports load failures.
 */
export function useOpenWhenLoaded() {
  const [waitingFor, setWaitingFor] = useState<Preloadable | null>(null);
  const waiting = useRef<AbortController>(null);
  useEffect(() => () => waiting.current?.abort(), []);

  function open(code: Preloadable, show: () => void): void {
    waiting.current?.abort();
    if (code.isLoaded()) return show();
    const controller = new AbortController();
    const { signal } = controller;
    waiting.current = controller;
    signal.addEventListener('abort', () => setWaitingFor(null));
    // The page itself may move the focus; only the pointer and Tab count as moving on.
    addEventListener('pointerdown', () => controller.abort(), { signal, capture: true });
    addEventListener('keydown', ({ key }) => (key === 'Escape' || key === 'Tab') && controller.abort(), {
      signal,
      capture: true,
    });
    // `code` is callable, and setState would call it.
    setWaitingFor(() => code);
    void code.preload().then(() => {
      if (signal.aborted) return;
      controller.abort();
      if (!code.isLoaded())
        notify.failure('This could not be opened', { description: 'Please try again.', id: 'popup' });
      else show();
    });
  }
  return { open, waitingFor };
}

/**
 * Returns the element's distance from the top of the page in pixels. Measured again when anything on the page
 * grows.
 */
export function usePageOffset(element: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => setTop((element.current?.getBoundingClientRect().top ?? 0) + scrollY);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [element]);
  return top;
}

/**
 * Keeps the end of a scrolling box visible as its content grows, unless the user has scrolled up. `follow`
 * resumes.
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
  // Content can also grow without new text: late formatting, or a tab becoming visible.
  useEffect(() => {
    const grown = new ResizeObserver(() => following.current && follow());
    if (content.current) grown.observe(content.current);
    return () => grown.disconnect();
  }, [follow]);

  const onScroll = ({ currentTarget: at }: UIEvent<HTMLElement>) => {
    const isAtEnd = at.scrollHeight - at.scrollTop - at.clientHeight < END_PX;
    // The end may have moved before the scroll event arrives: only scrolling up stops following.
    following.current = isAtEnd || (following.current && at.scrollTop >= scrolledTo.current);
    scrolledTo.current = at.scrollTop;
  };
  return { box, content, onScroll, follow };
}
