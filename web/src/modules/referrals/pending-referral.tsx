import { Suspense, useEffect, useState } from 'react';
import { queryClient } from '../../lib/api/query-client.ts';
import { onReconnect } from '../../lib/live/online.ts';
import { loadable } from '../../lib/loadable.tsx';
import { Boundary, EmptyFallback } from '../../ui/boundary.tsx';
import { useUser } from '../accounts/session.ts';
import { pendingReferralQuery, type Welcome } from './referral-calls.ts';

const BonusDialog = loadable(async () => (await import('./bonus-dialog.tsx')).BonusDialog);

/** Uses the code of the invitation by which somebody came, and says what became of it. */
export function PendingReferral({ userId }: { userId: string }) {
  const { email_verified: isConfirmed } = useUser();
  const [welcome, setWelcome] = useState<Welcome | null>(null);
  // Once more when the address is confirmed, for which a code may have waited.
  useEffect(() => {
    let left = false;
    let failed = false;
    const redeem = () => {
      failed = false;
      queryClient.fetchQuery(pendingReferralQuery(userId, isConfirmed)).then(
        (found) => {
          if (left || !found) return;
          setWelcome(found);
          void queryClient.invalidateQueries({ queryKey: ['balance', userId] });
        },
        () => {
          failed = true;
        },
      );
    };
    redeem();
    // The code was kept.
    const stop = onReconnect(() => failed && redeem());
    return () => {
      left = true;
      stop();
    };
  }, [userId, isConfirmed]);
  if (!welcome) return null;
  return (
    // Inside: what became of the code is told once, and waits here for the dialog.
    <Boundary fallback={EmptyFallback}>
      <Suspense>
        <BonusDialog welcome={welcome} />
      </Suspense>
    </Boundary>
  );
}
