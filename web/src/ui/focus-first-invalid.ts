import { flushSync } from 'react-dom';

/** A control that its `Field` marks as wrong; a picture is given by a button, which cannot be marked. */
const INVALID =
  '[aria-invalid="true"]:not([aria-hidden]), [data-invalid][tabindex]:not([aria-hidden]), [data-invalid] [data-source] button';

/** Puts the focus on the first field of a form that is marked as wrong. `mark`, which sets the problems, is drawn first. */
export function focusFirstInvalid(form: HTMLElement, mark?: () => void): void {
  if (mark) flushSync(mark);
  form.querySelector<HTMLElement>(INVALID)?.focus();
}
