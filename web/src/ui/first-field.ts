/** Returns the element to focus when a dialog opens, other than Close; in a radio group, its tab stop. */
export function firstField(part: HTMLElement | null): HTMLElement | null {
  const fields =
    'input:not([type=hidden], :disabled, [aria-hidden]), textarea, [role=combobox], [role=radio], button:not(:disabled), a[href]';
  return part?.querySelector<HTMLElement>(`:is(${fields}):not([tabindex="-1"])`) ?? null;
}
