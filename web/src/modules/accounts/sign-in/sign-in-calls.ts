import { getSignInMethods, rotateApiKey } from '@bakehouse/contract/accounts';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { getCredentials } from '../../../lib/api/credentials.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { changeSession } from '../../../lib/session/session-change.ts';
import { broadcastSession } from '../../../lib/session/session-channel.ts';
import { refreshSession } from '../session.ts';
import { sessionHint } from '../session-hint.ts';
import { authRequest } from './auth-request.ts';

export const signInMethodsQuery = endpointQuery(
  ['sign-in-methods'],
  getSignInMethods,
  {},
  { staleTime: Number.POSITIVE_INFINITY },
);

/** Creates a new key with the session alone, because the old key cannot be shown. */
export async function replaceLostKey(): Promise<void> {
  await call(rotateApiKey);
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

/** Redirects to the provider, which returns with the user signed in. */
export async function signInWith(provider: 'github' | 'google', returnTo: string): Promise<void> {
  const { url } = await authRequest<{ url: string }>('POST', 'sign-in/social', {
    provider,
    callbackURL: returnTo,
    errorCallbackURL: '/',
  });
  // The user will return signed in, so the shell can be painted immediately.
  sessionHint.set('expected');
  location.assign(url);
}

/** Ends the session in all tabs, and clears all cached data. */
export async function signOut(): Promise<void> {
  // After the sign-out, pending requests would fail or return no user.
  await queryClient.cancelQueries();
  await changeSession(async () => {
    await authRequest('POST', 'sign-out', {});
    // Cancel requests that were queued during the sign-out.
    await queryClient.cancelQueries();
  });
  sessionHint.set('none');
  broadcastSession({ type: 'signed-out', userId: getCredentials()?.userId ?? null });
}

/** Requests a link for a new password by mail; a server without mail leaves it to the operator. */
export async function requestPasswordReset(email: string): Promise<void> {
  await authRequest('POST', 'request-password-reset', { email });
}

/** `token` is from the link. Ends all sessions of the account. */
export async function resetPassword(newPassword: string, token: string): Promise<void> {
  await authRequest('POST', 'reset-password', { newPassword, token });
}

/** Confirms the signed-in user's address with the token of a mailed link. */
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
