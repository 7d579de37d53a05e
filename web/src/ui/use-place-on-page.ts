import { type RefObject, useLayoutEffect, useState } from 'react';

/** How far below the top of the page the element begins, in pixels; measured anew when anything on the page grows. */
export function usePlaceOnPage(element: RefObject<HTMLElement | null>): number {
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
