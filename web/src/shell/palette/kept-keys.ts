let kept = '';
/** Enter was the last key. */
let entered = false;
let callOff = () => {};

function keep(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, isComposing } = event;
  if (ctrlKey || metaKey || altKey) return;
  if (key.length === 1) kept += key;
  else if (key === 'Backspace') kept = kept.slice(0, -1);
  else if (key === 'Escape') callOff();
  else if (key !== 'Enter') return;
  entered = key === 'Enter' && !isComposing;
  // What stands behind the palette is not meant.
  event.preventDefault();
  event.stopPropagation();
}

/** Keeps what is typed from now on, behind `begun`, until `takeKeys`: nothing of the page hears it. Escape calls `onEscape`. */
export function keepKeys(begun: string, onEscape: () => void): void {
  kept = begun;
  callOff = onEscape;
  addEventListener('keydown', keep, true);
}

/** What was typed so far, and whether Enter came after it; the keys are the page's again. */
export function takeKeys(): { typed: string; entered: boolean } {
  removeEventListener('keydown', keep, true);
  const taken = { typed: kept, entered };
  kept = '';
  entered = false;
  return taken;
}
