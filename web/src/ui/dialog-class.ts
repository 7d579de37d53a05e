/** What lies over the page under a dialog or a sheet. */
export const backdropClass =
  'dialog-backdrop fixed inset-0 z-40 bg-backdrop transition-opacity duration-150 data-starting-style:opacity-0 data-ending-style:opacity-0';

/** The window, less what toasts take of it. */
export const viewportClass =
  'fixed inset-x-0 top-0 bottom-[var(--toast-room,0px)] z-40 transition-[bottom] duration-200';
