import { getMe, getSession, type User } from '@bakehouse/contract/accounts';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { call } from '../../lib/api/api-client.ts';
import { getCredentials, setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { sessionHint } from './session-hint.ts';

/** The signed-in user, or null. The session cookie loads the API key, which all other calls send. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: loadSession,
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
});

/**
 * True if the user is signed in but the server can no longer show the API key, because its secret was
 * replaced. The web app cannot make calls until there is a new key.
 */
export const keyLostQuery = queryOptions({
  queryKey: ['session', 'key-lost'],
  queryFn: () => false,
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
});

/** Returns the signed-in user; null if signed out, undefined while loading. */
export function useSessionUser(): User | null | undefined {
  return useQuery(sessionQuery).data;
}

/** Returns true if a user is signed in. Until the session has loaded, uses the stored hint. */
export function isProbablySignedIn(): boolean {
  const user = queryClient.getQueryData(sessionQuery.queryKey);
  return user === undefined ? sessionHint.get() === 'expected' : user !== null;
}

export const UserContext = createContext<User | null>(null);

/** Returns the signed-in user. Only inside the shell, which always has one. */
export function useUser(): User {
  const user = use(UserContext);
  if (!user) throw new Error('useUser must be called inside the shell');
  return user;
}

/** Refetches the session, and all other queries if the API key has changed. Returns the user. */
export async function refreshSession(): Promise<User | null> {
  const before = getCredentials()?.apiKey;
  const user = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
  if (user && before && getCredentials()?.apiKey !== before) {
    await queryClient.invalidateQueries({ predicate: (query) => query.queryKey[0] !== 'session' });
  }
  return user;
}

/** Refetches the signed-in user if the cached data is at least `olderThanMs` old. */
export async function refreshUser(olderThanMs = 0): Promise<void> {
  const readAt = queryClient.getQueryState(sessionQuery.queryKey)?.dataUpdatedAt ?? 0;
  if (Date.now() - readAt < olderThanMs) return;
  const before = getCredentials()?.userId;
  const user = await call(getMe);
  // Ignore the response if the user has signed out.
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
