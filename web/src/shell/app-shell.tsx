import type { User } from '@bakehouse/contract/accounts';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useEffectEvent, useRef } from 'react';
import { broadcastSession } from '../lib/session/session-channel.ts';
import { sessionQuery } from '../modules/accounts/session.ts';
import { useRunArea } from '../modules/fine-tuning/runs/run-area.ts';
import { ErrorState } from '../ui/error-state.tsx';
import { Shell } from './shell.tsx';
import { PagePending } from './states/page-pending.tsx';

/** Layout of every page that needs a session. Rendered before the session is known. */
export function AppShell() {
  const session = useQuery(sessionQuery);
  const page = useRunArea(useLocation().pathname);
  useLeaveWithoutSession(session.data);
  // A null session means signing out or redirecting, so don't show the visitor's page.
  const known = session.data ?? undefined;
  // The first render is slow on phones. Deferred, it can be interrupted by user input.
  const isShown = useDeferredValue(known !== undefined);
  const user = isShown ? known : undefined;
  return (
    <Shell user={user} page={page}>
      {user && <Outlet />}
      {!user && !session.isError && <PagePending />}
      {!user && session.isError && (
        <ErrorState
          title="Your session could not be loaded"
          error={session.error}
          onRetry={() => void session.refetch()}
          wholePage
        />
      )}
    </Shell>
  );
}

/** Redirects to the landing page if there is no session, remembering the requested page. */
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
    // Signed out here, or the session was ended in another browser: sign out the other tabs too.
    wasSignedIn.current = false;
    broadcastSession({ type: 'signed-out', userId: null });
  }, [user]);
}
