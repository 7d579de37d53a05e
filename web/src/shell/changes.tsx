import { useEffect } from 'react';
import { followChanges } from '../lib/live/follow-changes.ts';
import { readGuestResults } from '../modules/home/landing/try/saved-tries.ts';

/** Follows server changes while the same user is signed in, and claims their guest generations. */
export function Changes({ userId }: { userId: string }) {
  useEffect(() => {
    const ended = new AbortController();
    void followChanges(userId, performance.timeOrigin, ended.signal);
    return () => ended.abort();
  }, [userId]);
  useEffect(() => {
    const ended = new AbortController();
    if (readGuestResults())
      void import('../modules/home/landing/try/claim-guest-results.ts').then(({ claimGuestResults }) =>
        claimGuestResults(ended.signal),
      );
    return () => ended.abort();
  }, [userId]);
  return null;
}
