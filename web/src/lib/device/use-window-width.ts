import { useSyncExternalStore } from 'react';

/** The widths at which `styles.css` changes the layout, by the names they have there. */
const queries = {
  md: matchMedia('(width >= 48rem)'),
  lg: matchMedia('(width >= 64rem)'),
  xl: matchMedia('(width >= 80rem)'),
};

/**
 * Whether the window is at least that wide; follows it. For what would take a phone time although it is never seen there:
 * a class that hides it still has it rendered and its code fetched.
 */
export function useWindowWidth(atLeast: keyof typeof queries): boolean {
  const query = queries[atLeast];
  return useSyncExternalStore(
    (listener) => {
      query.addEventListener('change', listener);
      return () => query.removeEventListener('change', listener);
    },
    () => query.matches,
  );
}
