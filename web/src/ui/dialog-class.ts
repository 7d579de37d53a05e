/** The backdrop under a dialog or sheet. */
export const backdropClass =
  'dialog-backdrop fixed inset-0 z-40 bg-backdrop transition-opacity duration-150 data-starting-style:opacity-0 data-ending-style:opacity-0';

/** The viewport minus the space that toasts occupy. */
export const viewportClass =
  'fixed inset-x-0 top-0 bottom-[var(--toast-room,0px)] z-40 transition-[bottom] duration-200';
