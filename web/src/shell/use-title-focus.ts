import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { focusTitle } from '../ui/focus-title.ts';

/** Brings the focus to the title of the page that was gone to. */
export function useTitleFocus(): void {
  const router = useRouter();
  useEffect(() => {
    let stopWaiting = () => {};
    const unsubscribe = router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
      stopWaiting();
      // The first page is no change, and what a dialog holds is its own: a sheet that closes leads there itself.
      if (!fromLocation || !pathChanged || document.activeElement?.closest('[role=dialog]')) return;
      stopWaiting = focusTitle();
    });
    return () => {
      unsubscribe();
      stopWaiting();
    };
  }, [router]);
}
