/** Floating boxes: menus, selects and popovers. */
export const popupClass =
  'rounded-xl bg-surface p-1 text-ink shadow-pop outline-none origin-(--transform-origin) transition-[opacity,scale] duration-100 ' +
  'data-starting-style:scale-97 data-starting-style:opacity-0 data-ending-style:scale-97 data-ending-style:opacity-0';

/** One item in a floating box. */
export const itemClass =
  'flex min-h-8 cursor-default items-center gap-2.5 rounded-lg px-2.5 py-1.5 outline-none select-none ' +
  'data-highlighted:bg-hover data-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-muted';

/** Layer of floating boxes: above sheets and dialogs, below toasts. */
export const popupLayer = 'z-50 outline-none';
