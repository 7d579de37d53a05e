import { lazy, useEffect, useState } from 'react';
import { queryClient } from '../../lib/api/query-client.ts';
import { onReconnect } from '../../lib/live/online.ts';
import { LazyPart } from '../../ui/boundary.tsx';
import { useUser } from '../accounts/session.ts';
import { pendingReferralQuery, type ReferralResult } from './referral-calls.ts';

const BonusDialog = lazy(async () => ({ default: (await import('./bonus-dialog.tsx')).BonusDialog }));

/** Redeems the invitation code that the user signed up with, and shows the result. */
export function PendingReferral({ userId }: { userId: string }) {
  const { email_verified: isConfirmed } = useUser();
  const [welcome, setWelcome] = useState<ReferralResult | null>(null);
  // Again after the address is confirmed, which the code may have waited for.
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
    // The code is still stored.
    const stop = onReconnect(() => failed && redeem());
    return () => {
      left = true;
      stop();
    };
  }, [userId, isConfirmed]);
  if (!welcome) return null;
  return (
    // The server delivers the result only once.
    <LazyPart>
      <BonusDialog welcome={welcome} />
    </LazyPart>
  );
}
