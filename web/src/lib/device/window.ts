import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';

/** Breakpoints of `styles.css`, by name. */
const queries = {
  md: matchMedia('(width >= 48rem)'),
  lg: matchMedia('(width >= 64rem)'),
  xl: matchMedia('(width >= 80rem)'),
};

const USERS =
  'input, textarea, select, [contenteditable], [role="dialog"], [role="alertdialog"], [role="menu"]';

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

type Options = {
  /** Disables the keys if false. */
  enabled?: boolean;
  /**
   * Set if the content is in a dialog or sheet. These stop arrow keys from bubbling, so the keys are handled
   * in the capture phase.
   */
  onTop?: boolean;
};

/**
 * Steps backward or forward with two keys, wherever the focus is. Ignores keys that a field, menu or dialog
 * uses.
 */
export function useStepKeys(
  [back, on]: readonly [back: string, on: string],
  onStep: (step: -1 | 1) => void,
  { enabled = true, onTop = false }: Options = {},
): void {
  const move = useEffectEvent((event: KeyboardEvent) => {
    const step = event.key === back ? -1 : event.key === on ? 1 : null;
    // With modifiers the keys have other meanings: selecting text, history, scrolling.
    if (step === null || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    if (!onTop && isTaken(event)) return;
    event.preventDefault();
    onStep(step);
  });
  useEffect(() => {
    if (!enabled) return;
    const listen = (event: KeyboardEvent) => move(event);
    document.addEventListener('keydown', listen, { capture: onTop });
    return () => document.removeEventListener('keydown', listen, { capture: onTop });
  }, [enabled, onTop]);
}

function isTaken({ defaultPrevented, target }: KeyboardEvent): boolean {
  return defaultPrevented || (target instanceof Element && target.closest(USERS) !== null);
}
