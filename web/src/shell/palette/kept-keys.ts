let kept = '';

function keep(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey) return;
  if (key.length === 1) kept += key;
  else if (key === 'Backspace') kept = kept.slice(0, -1);
  // What stands behind the palette is not meant.
  else if (key !== 'Enter') return;
  event.preventDefault();
  event.stopPropagation();
}

/** Keeps what is typed from now on, behind `begun`, until the palette that was asked for takes it. */
export function keepKeys(begun = ''): void {
  kept += begun;
  addEventListener('keydown', keep, true);
}

/** What was typed so far; the keys are the page's again. */
export function takeKeys(): string {
  removeEventListener('keydown', keep, true);
  const taken = kept;
  kept = '';
  return taken;
}
