import { useEffect } from 'react';
import { awaitEnd, type LongWork, takeAwaited } from '../../ui/long-work.ts';
import { notify } from '../../ui/notify.ts';
import { announceInTitle } from './announce-in-title.ts';

/**
 * A toast for each piece of work that was started here or seen under way, and has ended, on whatever page the person is; where they
 * look at another tab, the title of this one says it.
 */
export function useEndToasts(work: readonly LongWork[]): void {
  useEffect(() => {
    for (const { id, end } of work) {
      if (end === null) awaitEnd(id);
      else if (takeAwaited(id)) {
        notify[end.kind](end.title, { id, ...(end.description && { description: end.description }) });
        announceInTitle(end.title);
      }
    }
  });
}
