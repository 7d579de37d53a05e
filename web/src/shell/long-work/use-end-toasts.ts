import { useEffect, useRef } from 'react';
import type { LongWork } from '../../ui/long-work.ts';
import { notify } from '../../ui/notify.ts';
import { announceInTitle } from './announce-in-title.ts';

/**
 * A toast for each piece of work that was seen under way and has ended, on whatever page the person is; where they
 * look at another tab, the title of this one says it.
 */
export function useEndToasts(work: readonly LongWork[]): void {
  const underWay = useRef(new Set<string>());
  useEffect(() => {
    for (const { id, end } of work) {
      if (end === null) underWay.current.add(id);
      else if (underWay.current.delete(id)) {
        notify[end.kind](end.title, { id, ...(end.description && { description: end.description }) });
        announceInTitle(end.title);
      }
    }
  });
}
