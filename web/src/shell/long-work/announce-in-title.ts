/** The page's title while an announcement replaces it. */
let covered: { title: string; by: string } | null = null;

/**
 * Shows a message in the title of a hidden tab, and restores the page's title when the tab becomes visible.
 */
export function announceInTitle(text: string): void {
  if (!document.hidden) return;
  const isOurs = covered?.by === document.title;
  covered = {
    title: isOurs && covered ? covered.title : document.title,
    by: `${text} · Bakehouse`,
  };
  document.title = covered.by;
  document.addEventListener('visibilitychange', restore);
}

function restore(): void {
  if (document.hidden) return;
  document.removeEventListener('visibilitychange', restore);
  // Keep a title that the page itself has set since.
  if (covered?.by === document.title) document.title = covered.title;
  covered = null;
}
