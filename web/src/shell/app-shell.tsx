import type { User } from '@bakehouse/contract/accounts';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useEffectEvent, useRef } from 'react';
import { broadcastSession } from '../lib/session/session-channel.ts';
import { sessionQuery } from '../modules/accounts/session.ts';
import { useRunArea } from '../modules/training/runs/run-area.ts';
import { ErrorState } from '../ui/error-state.tsx';
import { Shell } from './shell.tsx';
import { PagePending } from './states/page-pending.tsx';

/** Around every page that needs a session. It is painted before the session is known. */
export function AppShell() {
  const session = useQuery(sessionQuery);
  const page = useRunArea(useLocation().pathname);
  useLeaveWithoutSession(session.data);
  // Nobody is on the way out: that is no visitor's page.
  const known = session.data ?? undefined;
  // Its first rendering is long on a phone: deferred, it is interrupted by whoever touches the page meanwhile.
  const isShown = useDeferredValue(known !== undefined);
  const user = isShown ? known : undefined;
  return (
    <Shell user={user} page={page}>
      {user && <Outlet />}
      {!user && !session.isError && <PagePending />}
      {!user && session.isError && (
        <ErrorState
          title="Your session could not be read"
          error={session.error}
          onRetry={() => void session.refetch()}
          wholePage
        />
      )}
    </Shell>
  );
}

/** To the landing page when it turns out that nobody is signed in; it remembers where the person wanted to go. */
function useLeaveWithoutSession(user: User | null | undefined): void {
  const navigate = useNavigate();
  const next = useLocation({ select: ({ href }) => href });
  const wasSignedIn = useRef(false);
  const leave = useEffectEvent(
    () => void navigate({ to: '/', replace: true, ignoreBlocker: true, state: { next, isSentBack: true } }),
  );
  useEffect(() => {
    if (user) wasSignedIn.current = true;
    if (user !== null) return;
    if (!wasSignedIn.current) return leave();
    // Signed out here, or this session was ended in another browser: the other tabs leave too.
    wasSignedIn.current = false;
    broadcastSession({ type: 'signed-out', userId: null });
  }, [user]);
}
