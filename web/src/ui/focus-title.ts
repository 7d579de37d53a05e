/**
 * Brings the focus to the title of the page, which is also what a screen reader then says. A page that is still
 * loading has no title yet: the focus waits on the page, unless the person takes it elsewhere or the returned
 * function ends the wait.
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

/** Whether the page has a title, which then has the focus. */
function takesFocus(main: HTMLElement): boolean {
  const title = main.querySelector('h1');
  if (!title) return false;
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
  return true;
}
