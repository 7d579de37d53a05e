import type { Query } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';
import { getCredentials, setCredentials } from '../lib/api/credentials.ts';
import { queryClient } from '../lib/api/query-client.ts';
import { onSessionMessage, type SessionMessage } from '../lib/session/session-channel.ts';
import { browserStorage, clearTabStorage } from '../lib/tab-storage.ts';
import { refreshSession, sessionQuery } from '../modules/accounts/session.ts';

/**
 * Handles session messages from all tabs: an invalid key, a new key, a sign-out. After signing out, public
 * pages stay open and other pages redirect to the landing page.
 */
export function useSessionMessages(): void {
  const navigate = useNavigate();
  const router = useRouter();

  const leave = useEffectEvent(async () => {
    setCredentials(null);
    clearTabStorage();
    browserStorage.clear();
    queryClient.setQueryData(sessionQuery.queryKey, null);
    const isPublic = router.state.matches.some(({ routeId }) => routeId === '/public');
    if (!isPublic) await navigate({ to: '/', replace: true, ignoreBlocker: true });
    // Refetch the current page's queries as a visitor and drop the rest.
    const predicate = ({ queryKey }: Query) => queryKey[0] !== 'session';
    queryClient.removeQueries({ predicate, ...(isPublic && { type: 'inactive' }) });
    if (isPublic) await queryClient.resetQueries({ predicate });
  });

  const follow = useEffectEvent(async ({ type, userId }: SessionMessage) => {
    const isMine = userId === getCredentials()?.userId;
    if (type === 'signed-out') return leave();
    if (type === 'signed-in' ? isMine : !isMine) return;
    const user = await refreshSession().catch(() => undefined);
    if (user === null) await leave();
  });

  useEffect(() => onSessionMessage((message) => void follow(message)), []);
}
