import { useEffect, useEffectEvent } from 'react';

type Options = {
  /** They mean nothing while it is false. */
  enabled?: boolean;
  /** What is stepped through lies over the page: dialogs and sheets let no arrow key out, so the keys are taken on their way down. */
  onTop?: boolean;
};

/** Goes a step back or on by these two keys, wherever the focus is; where a field, a menu or a dialog uses them, they stay theirs. */
export function useStepKeys(
  [back, on]: readonly [back: string, on: string],
  onStep: (step: -1 | 1) => void,
  { enabled = true, onTop = false }: Options = {},
): void {
  const move = useEffectEvent((event: KeyboardEvent) => {
    const step = event.key === back ? -1 : event.key === on ? 1 : null;
    // With another key they mean something else: to mark text, to go back, to scroll.
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
