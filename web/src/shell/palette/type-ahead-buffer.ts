let kept = '';
/** True if Enter was the last key. */
let entered = false;
let callOff = () => {};

function recordKey(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, isComposing } = event;
  if (ctrlKey || metaKey || altKey) return;
  if (key.length === 1) kept += key;
  else if (key === 'Backspace') kept = kept.slice(0, -1);
  else if (key === 'Escape') callOff();
  else if (key !== 'Enter') return;
  entered = key === 'Enter' && !isComposing;
  // The page behind the palette must not receive it.
  event.preventDefault();
  event.stopPropagation();
}

/**
 * Buffers keystrokes after `begun` until `releaseKeystrokes` and hides them from the page. Escape calls `onEscape`.
 */
export function bufferKeystrokes(begun: string, onEscape: () => void): void {
  kept = begun;
  callOff = onEscape;
  addEventListener('keydown', recordKey, true);
}

/** Returns the buffered text and whether Enter followed it, and releases the keyboard. */
export function releaseKeystrokes(): { typed: string; entered: boolean } {
  removeEventListener('keydown', recordKey, true);
  const taken = { typed: kept, entered };
  kept = '';
  entered = false;
  return taken;
}
