import { useEffect } from 'react';

const APP = 'Bakehouse';

let page = APP;

/** Sets the title of the browser tab. Null shows the app's name alone; undefined changes nothing. */
export function usePageTitle(title: string | null | undefined): void {
  useEffect(() => {
    if (title === undefined) return;
    page = title === null ? APP : `${title} · ${APP}`;
    document.title = page;
  }, [title]);
}

/** Shows a message in the title of a hidden tab, until the tab becomes visible or the page changes its title. */
export function announceInTitle(text: string): void {
  if (!document.hidden) return;
  document.title = `${text} · ${APP}`;
  document.addEventListener('visibilitychange', restore);
}

function restore(): void {
  if (document.hidden) return;
  document.removeEventListener('visibilitychange', restore);
  document.title = page;
}
