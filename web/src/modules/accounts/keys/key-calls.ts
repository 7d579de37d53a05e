import { rotateApiKey } from '@bakehouse/contract/accounts';
import { changeApiKey, createApiKey, listApiKeys, revokeApiKey } from '@bakehouse/contract/api-keys';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { getCredentials, setCredentials } from '../../../lib/api/credentials.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { useOnlineInterval } from '../../../lib/live/online.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { broadcastSession } from '../../../lib/session/session-channel.ts';
import type { KeySettings } from './key-form.ts';

const POLL_MS = 10_000;

/** The user's API keys, including the web app's own. */
export const apiKeysQuery = (userId: string) =>
  endpointQuery(
    ['api-key', userId],
    listApiKeys,
    { params: { userId }, query: {} },
    {
      // Never fresh: each call with a key changes its last-used time.
      staleTime: 0,
    },
  );

/** Reads the user's keys and polls, because the server sends no events when a key is used. */
export function useApiKeys(userId: string) {
  return useQuery({ ...apiKeysQuery(userId), refetchInterval: useOnlineInterval(POLL_MS) });
}

/** All current and revoked keys, because past transactions may belong to revoked keys. */
export const everyApiKeyQuery = (userId: string) =>
  endpointQuery(['api-key', userId, 'every'], listApiKeys, {
    params: { userId },
    query: { include_revoked: 'true' },
  });

const refresh = () => refetchQueries(['api-key']);

/** Creates a key; only this response contains it in full. */
export function useCreateApiKey(userId: string) {
  return useMutation({
    mutationFn: (settings: Partial<KeySettings> & { name: string }) =>
      call(createApiKey, { params: { userId }, body: settings }),
    onSuccess: refresh,
  });
}

/** Changes settings of a key. */
export function useChangeApiKey() {
  return useMutation({
    mutationFn: ({ keyId, changes }: { keyId: string; changes: Partial<KeySettings> }) =>
      call(changeApiKey, { params: { keyId }, body: changes }),
    onSuccess: refresh,
  });
}

/** Revokes a key immediately. */
export function useRevokeApiKey() {
  return useMutation({
    mutationFn: (keyId: string) => call(revokeApiKey, { params: { keyId } }),
    onSuccess: refresh,
  });
}

/** Revokes the old key immediately, and sets the new one in this tab and, by message, in all others. */
export function useRotateApiKey() {
  return useMutation({
    mutationFn: () => call(rotateApiKey),
    onSuccess: ({ data }) => {
      const credentials = getCredentials();
      if (!credentials) return;
      setCredentials({ ...credentials, apiKey: data });
      broadcastSession({ type: 'key-changed', userId: credentials.userId });
    },
  });
}
