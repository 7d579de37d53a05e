import { type RefObject, useLayoutEffect, useState } from 'react';

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
