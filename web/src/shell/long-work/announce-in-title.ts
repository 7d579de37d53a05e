/** The title that a page has while an announcement stands in its place. */
let covered: { title: string; by: string } | null = null;

/** Says something in the title of a tab that nobody looks at; the page's own title comes back when somebody does. */
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
  // What the page itself has written since stays.
  if (covered?.by === document.title) document.title = covered.title;
  covered = null;
}
