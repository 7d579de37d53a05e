import { useSyncExternalStore } from 'react';

/** Breakpoints of `styles.css`, by name. */
const queries = {
  md: matchMedia('(width >= 48rem)'),
  lg: matchMedia('(width >= 64rem)'),
  xl: matchMedia('(width >= 80rem)'),
};

/**
 * Returns true if the window is at least that wide, and updates. For expensive parts that phones never show:
 * a hiding class would still render them and load their code.
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
