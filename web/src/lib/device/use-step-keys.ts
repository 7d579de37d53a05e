import { useEffect, useEffectEvent } from 'react';

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

const USERS =
  'input, textarea, select, [contenteditable], [role="dialog"], [role="alertdialog"], [role="menu"]';

function isTaken({ defaultPrevented, target }: KeyboardEvent): boolean {
  return defaultPrevented || (target instanceof Element && target.closest(USERS) !== null);
}
