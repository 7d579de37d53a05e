import { changeOnboarding, getSignInMethods, rotateApiKey } from '@bakehouse/contract/accounts';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { getCredentials, setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { changeSession } from '../../lib/session/session-change.ts';
import { broadcastSession } from '../../lib/session/session-channel.ts';
import { refreshSession, refreshUser } from './session.ts';
import { sessionHint } from './session-hint.ts';
import { authRequest } from './sign-in/auth-request.ts';

export {
  isExpected,
  refreshSession,
  refreshUser,
  sessionQuery,
  UserContext,
  useSessionUser,
  useUser,
} from './session.ts';

export const signInMethodsQuery = queryOptions({
  queryKey: ['sign-in-methods'],
  queryFn: ({ signal }) => call(getSignInMethods, {}, { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Puts the first steps away, or brings them back. */
export function useDismissOnboarding() {
  return useMutation({
    mutationFn: (dismissed: boolean) =>
      call(changeOnboarding, { body: { dismissed } }, { operation: 'hide the first steps' }),
    onSuccess: () => refreshUser(),
  });
}

/** Ends the old key at once and gives the new one to this tab and, by message, to all others. */
export function useRotateApiKey() {
  return useMutation({
    mutationFn: () => call(rotateApiKey, {}, { operation: 'replace the API key' }),
    onSuccess: ({ data }) => {
      const credentials = getCredentials();
      if (!credentials) return;
      setCredentials({ ...credentials, apiKey: data });
      broadcastSession({ type: 'key-changed', userId: credentials.userId });
    },
  });
}

/** A new key for who is signed in, by the session alone: the old one cannot be shown any more. */
export async function replaceLostKey(): Promise<void> {
  await call(rotateApiKey, {}, { operation: 'make a new API key' });
  await enter();
}

export type SignUp = { username: string; email: string; password: string };
export type SignIn = { email: string; password: string };

export async function signIn(form: SignIn): Promise<void> {
  await authRequest('POST', 'sign-in/email', form);
  await enter();
}

export async function signUp({ username, email, password }: SignUp): Promise<void> {
  await authRequest('POST', 'sign-up/email', { username, name: username, email, password });
  await enter();
}

/** Sends the browser to the provider; it comes back signed in. */
export async function signInWith(provider: 'github' | 'google', returnTo: string): Promise<void> {
  const { url } = await authRequest<{ url: string }>('POST', 'sign-in/social', {
    provider,
    callbackURL: returnTo,
    errorCallbackURL: '/',
  });
  // Who comes back is signed in: the shell is painted at once.
  sessionHint.set('expected');
  location.assign(url);
}

/** Ends the session here and in the other tabs, and forgets everything that was read. */
export async function signOut(): Promise<void> {
  // What is still being read would be answered that nobody is signed in.
  await queryClient.cancelQueries();
  await changeSession(async () => {
    await authRequest('POST', 'sign-out', {});
    // What has waited meanwhile has nobody to read for any more.
    await queryClient.cancelQueries();
  });
  sessionHint.set('none');
  broadcastSession({ type: 'signed-out', userId: getCredentials()?.userId ?? null });
}

/** Has the server make a link for a new password, and mail it; one that sends no mail leaves it to the operator. */
export async function requestPasswordReset(email: string): Promise<void> {
  await authRequest('POST', 'request-password-reset', { email });
}

/** `token` is what the link brought along. All sessions of the account end. */
export async function resetPassword(newPassword: string, token: string): Promise<void> {
  await authRequest('POST', 'reset-password', { newPassword, token });
}

/** How the signed-in person can sign in: `credential` is the password. */
export const ownSignInMethodsQuery = queryOptions({
  queryKey: ['own-sign-in-methods'],
  queryFn: ({ signal }) =>
    authRequest<{ id: string; providerId: string; createdAt: string }[]>(
      'GET',
      'list-accounts',
      undefined,
      'read your sign-in methods',
      signal,
    ),
});

/**
 * Ends the sessions in all other browsers; this one stays signed in. With `endsKeys` all API keys end, and this browser's
 * tabs have the web app's new one.
 */
export async function changePassword(
  currentPassword: string,
  newPassword: string,
  { endsKeys }: { endsKeys: boolean },
): Promise<void> {
  const body = { currentPassword, newPassword, revokeApiKeys: endsKeys };
  await changeSession(() => authRequest('POST', 'change-password', body, 'change the password'));
  if (!endsKeys) return;
  const user = await refreshSession();
  broadcastSession({ type: 'key-changed', userId: user?.id ?? null });
}

/** Confirms the address that the token of a mailed link is about: the signed-in person's own. */
export const verifyEmailQuery = (token: string) =>
  queryOptions({
    queryKey: ['verify-email', token],
    queryFn: async () => {
      await authRequest(
        'GET',
        `verify-email?${new URLSearchParams({ token })}`,
        undefined,
        'confirm the address',
      );
      await refreshSession();
      return true;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

async function enter(): Promise<void> {
  queryClient.clear();
  const user = await refreshSession();
  broadcastSession({ type: 'signed-in', userId: user?.id ?? null });
}
