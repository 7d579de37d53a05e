import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

/**
 * Brings the focus to the title of the page that was gone to, which is also what a screen reader then says. A page
 * that is still loading has no title yet: the focus waits on the page, unless the person takes it elsewhere.
 */
export function useTitleFocus(): void {
  const router = useRouter();
  useEffect(() => {
    let waiting: MutationObserver | null = null;
    const unsubscribe = router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
      waiting?.disconnect();
      const main = document.getElementById('main');
      // The first page is no change, and what a dialog holds is its own.
      if (!fromLocation || !pathChanged || !main || document.activeElement?.closest('[role=dialog]')) return;
      if (focusTitle(main)) return;
      main.focus({ preventScroll: true });
      waiting = new MutationObserver(() => {
        if (document.activeElement !== main || focusTitle(main)) waiting?.disconnect();
      });
      waiting.observe(main, { childList: true, subtree: true });
    });
    return () => {
      unsubscribe();
      waiting?.disconnect();
    };
  }, [router]);
}

function focusTitle(main: HTMLElement): boolean {
  const title = main.querySelector('h1');
  if (!title) return false;
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
  return true;
}
