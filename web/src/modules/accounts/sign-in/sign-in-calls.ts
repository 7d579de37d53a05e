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

/** A new key for who is signed in, by the session alone: the old one cannot be shown any more. */
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
