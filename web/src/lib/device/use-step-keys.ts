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
 * uses, or that scroll the focused content. `onStep` returns false if there is nothing to step to.
 */
export function useStepKeys(
  [back, on]: readonly [back: string, on: string],
  onStep: (step: -1 | 1) => unknown,
  { enabled = true, onTop = false }: Options = {},
): void {
  const move = useEffectEvent((event: KeyboardEvent) => {
    const step = event.key === back ? -1 : event.key === on ? 1 : null;
    // With modifiers the keys have other meanings: selecting text, history, scrolling.
    if (step === null || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    if (onTop ? isFieldOrScrolls(event) : isTaken(event)) return;
    if (onStep(step) !== false) event.preventDefault();
  });
  useEffect(() => {
    if (!enabled) return;
    const listen = (event: KeyboardEvent) => move(event);
    document.addEventListener('keydown', listen, { capture: onTop });
    return () => document.removeEventListener('keydown', listen, { capture: onTop });
  }, [enabled, onTop]);
}

const FIELDS = 'input, textarea, select, [contenteditable]';
const USERS = `${FIELDS}, [role="dialog"], [role="alertdialog"], [role="menu"]`;

/** Returns true if a field, or content around the focus that scrolls further, uses the arrow key. */
function isFieldOrScrolls({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest(FIELDS)) return true;
  for (let part: Element | null = target; part; part = part.parentElement) {
    if (!/auto|scroll/.test(getComputedStyle(part).overflowY)) continue;
    if (key === 'ArrowUp' && part.scrollTop > 0) return true;
    if (key === 'ArrowDown' && part.scrollTop + part.clientHeight < part.scrollHeight - 1) return true;
  }
  return false;
}

/** Returns true if a field, menu or dialog handles the key. */
export function isTaken({ defaultPrevented, target }: KeyboardEvent): boolean {
  return defaultPrevented || (target instanceof Element && target.closest(USERS) !== null);
}
