import { deleteAccount, exportData, previewDeletion } from '@bakehouse/contract/privacy';
import { endOtherSessions, endSession, listSessions } from '@bakehouse/contract/profile';
import { queryOptions } from '@tanstack/react-query';
import { call, callRaw } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { getCredentials } from '../../../lib/api/credentials.ts';
import { saveAs } from '../../../lib/api/download.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { localDay } from '../../../lib/format/format-time.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { changeSession } from '../../../lib/session/session-change.ts';
import { broadcastSession } from '../../../lib/session/session-channel.ts';
import { notify } from '../../../ui/notify.ts';
import type { FailureOptions } from '../../../ui/notify-failure.ts';
import { refreshSession } from '../session.ts';
import { sessionHint } from '../session-hint.ts';
import { authRequest } from '../sign-in/auth-request.ts';
import { resizePicture } from './resize-picture.ts';

type Change = { name: string } | { picture: File | null };

/** Changes the name or the picture; `words` configure the failure message. */
export function useUpdateProfile(words: FailureOptions) {
  return useMutation({
    mutationFn: async (change: Change) => {
      const body =
        'name' in change
          ? change
          : { image: change.picture === null ? null : await resizePicture(change.picture) };
      await authRequest('POST', 'update-user', body, 'change your profile');
      await refreshSession();
    },
    meta: words,
  });
}

export const sendConfirmation = (email: string) =>
  authRequest('POST', 'send-verification-email', { email }, 'send the link');

export const sessionsQuery = endpointQuery(['sign-in-session'], listSessions);

/** Signs out another browser, or with null all others. */
export function useEndSessions() {
  return useMutation({
    mutationFn: async (sessionId: string | null) => {
      if (sessionId === null) await call(endOtherSessions);
      else await call(endSession, { params: { sessionId } });
      await queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    },
    meta: { title: 'The session could not be ended' },
  });
}

/** Downloads all data about the user. */
export function useExportData() {
  return useMutation({
    mutationFn: async () => {
      const answer = await callRaw(exportData, {}, { timeoutMs: 120_000 });
      saveAs(await answer.blob(), `bakehouse-${localDay(new Date())}.json`);
    },
    meta: { title: 'Your data could not be downloaded' },
  });
}

export const deletionQuery = endpointQuery(
  ['sign-in-session', 'deletion'],
  previewDeletion,
  {},
  // Always refetch, because the dialog must list what exists now.
  { staleTime: 0 },
);

export type DeletionBody = { password?: string; give_up_max?: string };

/** Deletes the account and signs out every tab of this browser. */
export function useDeleteAccount() {
  return useMutation({
    mutationFn: (body: DeletionBody) => call(deleteAccount, { body }),
    onSuccess: () => {
      sessionHint.set('none');
      broadcastSession({ type: 'signed-out', userId: getCredentials()?.userId ?? null });
      notify.success('Your account was deleted');
    },
    onError: async (error) => {
      // The account has changed since the dialog loaded it.
      if (error instanceof ApiError && error.code === 'conflict')
        await queryClient.invalidateQueries({ queryKey: deletionQuery.queryKey });
    },
    // The dialog shows the error.
    meta: { inPlace: true },
  });
}

export type SignInMethod = { id: string; providerId: string; createdAt: string };

/** Redirects to the provider, which returns to the profile. */
export async function linkProvider(provider: 'github' | 'google'): Promise<void> {
  const { url } = await authRequest<{ url: string }>(
    'POST',
    'link-social',
    { provider, callbackURL: '/profile', errorCallbackURL: '/profile' },
    'link the account',
  );
  location.assign(url);
}

/** Removes a sign-in method. */
export const unlinkMethod = (accountId: string) =>
  authRequest('POST', 'unlink-account', { accountId }, 'unlink the account');

/** The user's sign-in methods: `credential` is the password. */
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
 * Ends the sessions of all other browsers. With `endsKeys` also revokes all API keys, and this browser's tabs
 * receive the web app's new one.
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
