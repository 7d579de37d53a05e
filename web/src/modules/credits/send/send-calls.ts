import { previewTransfer, transferTokens } from '@bakehouse/contract/credits';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { type IdempotencyKeys, isRefused } from '../../../lib/api/idempotency-key.ts';
import { readAgain } from '../../../lib/mutation/read-again.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { broadcastSession } from '../../../lib/session/session-channel.ts';
import { notify } from '../../../ui/notify.ts';
import { describeSendFailure, SEND_OPERATION } from './send-failure.ts';

export type Transfer = { recipient_id: string; amount: string };

/**
 * Sends credits. Where that fails, all tabs read their session again: the key may have been replaced. A failure that its sheet
 * does not show any more is announced.
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
        // Here, since the form that has sent it may be gone by now, and the keys are not.
        keys.renew(transfer);
        return sent;
      } catch (error) {
        if (isRefused(error)) keys.renew(transfer);
        throw error;
      }
    },
    onError: (error) => {
      broadcastSession({ type: 'invalid-key', userId });
      // Too little credit is announced everywhere.
      const isAnnounced = error instanceof ApiError && error.code === 'insufficient_funds';
      if (!isShown && !isAnnounced)
        notify.failure('Transfer Failed', { description: describeSendFailure(error).reason });
    },
    onSuccess: () => readAgain(['balance'], ['transaction']),
  });
}

/** Whom an address means is not told. */
export const canBeLookedUp = (name: string): boolean => name !== '' && !name.includes('@');

/** Whom a username or an id means; asked for once both it and an amount are there. */
export const recipientQuery = (
  userId: string,
  { recipient_id: name, amount }: { recipient_id: string; amount: string | null },
) =>
  endpointQuery(
    ['recipient', userId, name, amount],
    previewTransfer,
    { query: { user_id: userId, recipient_id: name, amount: amount ?? '' } },
    { enabled: canBeLookedUp(name) && amount !== null, retry: false },
  );
