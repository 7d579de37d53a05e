/** An entry of the documentation's list. */
export const itemClass =
  'block rounded-md px-2.5 py-1 text-compact text-muted hover:bg-hover hover:text-ink [&[aria-current]]:bg-hover [&[aria-current]]:font-medium [&[aria-current]]:text-ink';
