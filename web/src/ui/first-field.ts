/** What a dialog was opened for, rather than its Close: of a group, the one that the keyboard comes to. */
export function firstField(part: HTMLElement | null): HTMLElement | null {
  const fields =
    'input:not([type=hidden], :disabled, [aria-hidden]), textarea, [role=combobox], [role=radio], button:not(:disabled), a[href]';
  return part?.querySelector<HTMLElement>(`:is(${fields}):not([tabindex="-1"])`) ?? null;
}
