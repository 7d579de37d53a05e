import { Suspense, useEffect, useState } from 'react';
import { queryClient } from '../../lib/api/query-client.ts';
import { loadable } from '../../lib/loadable.tsx';
import { Boundary, EmptyFallback } from '../../ui/boundary.tsx';
import { pendingReferralQuery, type Welcome } from './api.ts';

const BonusDialog = loadable(async () => (await import('./bonus-dialog.tsx')).BonusDialog);

/** Uses the code of the invitation by which somebody came, and says what became of it. */
export function PendingReferral({ userId }: { userId: string }) {
  const [welcome, setWelcome] = useState<Welcome | null>(null);
  useEffect(() => {
    let left = false;
    queryClient.fetchQuery(pendingReferralQuery(userId)).then(
      (found) => {
        if (left || !found) return;
        setWelcome(found);
        void queryClient.invalidateQueries({ queryKey: ['balance', userId] });
      },
      // The code is kept, and the next page tries again.
      () => undefined,
    );
    return () => {
      left = true;
    };
  }, [userId]);
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
