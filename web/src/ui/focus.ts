import { flushSync } from 'react-dom';

/**
 * Controls that a `Field` marks as invalid. Pictures are chosen with a button, which can't be marked itself.
 */
const INVALID =
  '[aria-invalid="true"]:not([aria-hidden]), [data-invalid][tabindex]:not([aria-hidden]), [data-invalid] [data-source] button';

/** Returns the element to focus when a dialog opens, other than Close; in a radio group, its tab stop. */
export function firstField(part: HTMLElement | null): HTMLElement | null {
  const fields =
    'input:not([type=hidden], :disabled, [aria-hidden]), textarea, [role=combobox], [role=radio], button:not(:disabled), a[href]';
  return part?.querySelector<HTMLElement>(`:is(${fields}):not([tabindex="-1"])`) ?? null;
}

/** Focuses the first invalid field of a form, after flushing the state update in `mark`. */
export function focusFirstInvalid(form: HTMLElement, mark?: () => void): void {
  if (mark) flushSync(mark);
  form.querySelector<HTMLElement>(INVALID)?.focus();
}

/**
 * Moves the focus to the page title, which screen readers then announce. If the page is still loading,
 * focuses the main element until the title appears, the user moves the focus or the returned function is
 * called.
 */
export function focusTitle(): () => void {
  const main = document.getElementById('main');
  if (!main || takesFocus(main)) return () => {};
  main.focus({ preventScroll: true });
  const waiting = new MutationObserver(() => {
    if (document.activeElement !== main || takesFocus(main)) waiting.disconnect();
  });
  waiting.observe(main, { childList: true, subtree: true });
  return () => waiting.disconnect();
}

/** Focuses the page title. Returns false if the page has none yet. */
function takesFocus(main: HTMLElement): boolean {
  const title = main.querySelector('h1');
  if (!title) return false;
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
  return true;
}
