import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { focusTitle } from '../ui/focus-title.ts';

/** Focuses the page title after navigation. */
export function useTitleFocus(): void {
  const router = useRouter();
  useEffect(() => {
    let stopWaiting = () => {};
    const unsubscribe = router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
      stopWaiting();
      // Skip the initial page, and leave the focus in dialogs: closing a sheet focuses the title itself.
      if (!fromLocation || !pathChanged || document.activeElement?.closest('[role=dialog]')) return;
      stopWaiting = focusTitle();
    });
    return () => {
      unsubscribe();
      stopWaiting();
    };
  }, [router]);
}
