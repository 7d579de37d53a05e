import { flushSync } from 'react-dom';

/**
 * Controls that a `Field` marks as invalid. Pictures are chosen with a button, which can't be marked itself.
 */
const INVALID =
  '[aria-invalid="true"]:not([aria-hidden]), [data-invalid][tabindex]:not([aria-hidden]), [data-invalid] [data-source] button';

/** Focuses the first invalid field of a form, after flushing the state update in `mark`. */
export function focusFirstInvalid(form: HTMLElement, mark?: () => void): void {
  if (mark) flushSync(mark);
  form.querySelector<HTMLElement>(INVALID)?.focus();
}
