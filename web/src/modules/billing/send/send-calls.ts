import { previewTransfer, transferTokens } from '@bakehouse/contract/credits';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { type IdempotencyKeys, isRefused } from '../../../lib/api/idempotency-key.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { broadcastSession } from '../../../lib/session/session-channel.ts';
import { notify } from '../../../ui/notify.ts';
import { describeSendFailure, SEND_OPERATION } from './send-failure.ts';

export type Transfer = { recipient_id: string; amount: string };

/**
 * Sends credits. After a failure all tabs re-read their session, because the key may have been replaced.
 * Announces a failure if the sheet is closed.
 */
export function useTransfer(userId: string, keys: IdempotencyKeys, isShown: boolean) {
  return useMutation({
    meta: { product: 'Transfer', inPlace: true },
    mutationFn: async (transfer: Transfer) => {
      try {
        const sent = await call(
          transferTokens,
          { body: { user_id: userId, ...transfer } },
          { idempotencyKey: keys.keyFor(transfer), operation: SEND_OPERATION },
        );
        // Renew here, not in the form's callback: the form may be unmounted by now.
        keys.renew(transfer);
        return sent;
      } catch (error) {
        if (isRefused(error)) keys.renew(transfer);
        throw error;
      }
    },
    onError: (error) => {
      broadcastSession({ type: 'invalid-key', userId });
      // Insufficient credit is announced globally.
      const isAnnounced = error instanceof ApiError && error.code === 'insufficient_funds';
      if (!isShown && !isAnnounced)
        notify.failure('Transfer Failed', { description: describeSendFailure(error).reason });
    },
    onSuccess: () => refetchQueries(['balance'], ['transaction']),
  });
}

/** Returns false for email addresses, because the server does not reveal their owners. */
export const isLookupAllowed = (name: string): boolean => name !== '' && !name.includes('@');

/** Looks up a recipient by username or id, once an amount is set too. */
export const recipientQuery = (
  userId: string,
  { recipient_id: name, amount }: { recipient_id: string; amount: string | null },
) =>
  endpointQuery(
    ['recipient', userId, name, amount],
    previewTransfer,
    { query: { user_id: userId, recipient_id: name, amount: amount ?? '' } },
    { enabled: isLookupAllowed(name) && amount !== null, retry: false },
  );
