import { getMe, getSession, type User } from '@bakehouse/contract/accounts';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { call } from '../../lib/api/api-client.ts';
import { getCredentials, setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { sessionHint } from './session-hint.ts';

/**
 * Who is signed in here; null for nobody. Reads the key with the session cookie, and from then on
 * the key is what every call carries.
 */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: loadSession,
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
});

/**
 * Whether somebody is signed in here to whom the server cannot show the API key: its secret was
 * replaced. Until there is a new key, the web app has nothing to call with.
 */
export const keyLostQuery = queryOptions({
  queryKey: ['session', 'key-lost'],
  queryFn: () => false,
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
});

/** The signed-in user; null for nobody, undefined while that is not known. */
export function useSessionUser(): User | null | undefined {
  return useQuery(sessionQuery).data;
}

/** Whether somebody is signed in; while that is not known, whether somebody was. */
export function isExpected(): boolean {
  const user = queryClient.getQueryData(sessionQuery.queryKey);
  return user === undefined ? sessionHint.get() === 'expected' : user !== null;
}

export const UserContext = createContext<User | null>(null);

/** The signed-in user. Only inside of the shell: there is always one there. */
export function useUser(): User {
  const user = use(UserContext);
  if (!user) throw new Error('useUser is for what the shell contains');
  return user;
}

/** Reads the session again; where the key has changed, everything that was read with the old one too. Returns the user. */
export async function refreshSession(): Promise<User | null> {
  const before = getCredentials()?.apiKey;
  const user = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
  if (user && before && getCredentials()?.apiKey !== before) {
    await queryClient.invalidateQueries({ predicate: (query) => query.queryKey[0] !== 'session' });
  }
  return user;
}

/** Reads anew what is known of the signed-in user, by the key at hand, where that is older than so many milliseconds. */
export async function refreshUser(olderThanMs = 0): Promise<void> {
  const readAt = queryClient.getQueryState(sessionQuery.queryKey)?.dataUpdatedAt ?? 0;
  if (Date.now() - readAt < olderThanMs) return;
  const before = getCredentials()?.userId;
  const user = await call(getMe);
  // Who has signed out meanwhile stays so.
  if (getCredentials()?.userId === before) queryClient.setQueryData(sessionQuery.queryKey, user);
}

async function loadSession(): Promise<User | null> {
  const { user, api_key: apiKey } = await call(getSession, {}, { bySession: true });
  sessionHint.set(user ? 'expected' : 'none');
  if (user) queryClient.setQueryData(keyLostQuery.queryKey, apiKey === null);
  const isUsable = user !== null && apiKey !== null;
  setCredentials(isUsable ? { userId: user.id, apiKey } : null);
  return isUsable ? user : null;
}
