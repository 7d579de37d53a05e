/**
 * Moves the focus to the page title, which screen readers then announce. If the page is still loading,
 * focuses the main element until the title appears, the user moves the focus or the returned function is
 * called.
 */
export function focusTitle(): () => void {
  const main = document.getElementById('main');
  if (!main || canTakeFocus(main)) return () => {};
  main.focus({ preventScroll: true });
  const waiting = new MutationObserver(() => {
    if (document.activeElement !== main || canTakeFocus(main)) waiting.disconnect();
  });
  waiting.observe(main, { childList: true, subtree: true });
  return () => waiting.disconnect();
}

/** Focuses the page title. Returns false if the page has none yet. */
function canTakeFocus(main: HTMLElement): boolean {
  const title = main.querySelector('h1');
  if (!title) return false;
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
  return true;
}
