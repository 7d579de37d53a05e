import { useEffect } from 'react';
import { announceInTitle } from '../../lib/page-title.ts';
import { consumeAwaitedEnd, expectEnd, type LongWork } from '../../ui/long-work.ts';
import { notify } from '../../ui/notify.ts';

/**
 * Shows a toast when a task ends that was started or seen here, on any page. In a hidden tab it shows in the
 * title.
 */
export function useEndToasts(work: readonly LongWork[]): void {
  useEffect(() => {
    for (const { id, end } of work) {
      if (end === null) expectEnd(id);
      else if (consumeAwaitedEnd(id)) {
        if (!end.isOnScreen)
          notify[end.kind](end.title, { id, ...(end.description && { description: end.description }) });
        announceInTitle(end.title);
      }
    }
  }, [work]);
}
