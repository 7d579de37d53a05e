import type { Query } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';
import { getCredentials, setCredentials } from '../lib/api/credentials.ts';
import { queryClient } from '../lib/api/query-client.ts';
import { onSessionMessage, type SessionMessage } from '../lib/session/session-channel.ts';
import { browserStorage, forgetTab } from '../lib/tab-storage.ts';
import { refreshSession, sessionQuery } from '../modules/accounts/session.ts';

/**
 * Follows what this tab and others learn about the session: a refused key, a new one, a sign-out. Who signs out stays
 * on a page that anybody may see, and goes to the landing page from every other.
 */
export function useSessionMessages(): void {
  const navigate = useNavigate();
  const router = useRouter();

  const leave = useEffectEvent(async () => {
    setCredentials(null);
    forgetTab();
    browserStorage.forget();
    queryClient.setQueryData(sessionQuery.queryKey, null);
    const isPublic = router.state.matches.some(({ routeId }) => routeId === '/public');
    if (!isPublic) await navigate({ to: '/', replace: true, ignoreBlocker: true });
    // What the page in sight shows of anybody is read again as a visitor's; the rest is forgotten.
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
