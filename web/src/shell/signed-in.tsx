import { useEffect } from 'react';
import { followChanges } from '../lib/live/follow-changes.ts';
import { readGuestResults } from '../modules/home/landing/try/saved-tries.ts';
import { PendingReferral } from '../modules/referrals/pending-referral.tsx';
import { OpenSheets } from './open-sheets.tsx';

/** Background parts on every page for signed-in users. */
export function SignedIn({ userId }: { userId: string }) {
  useChanges(userId);
  return (
    <>
      <OpenSheets />
      <PendingReferral key={userId} userId={userId} />
    </>
  );
}

/** Follows server changes while the same user is signed in, and claims their guest generations. */
function useChanges(userId: string): void {
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
}
