import { previewTransfer, transferTokens } from '@bakehouse/contract/credits';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { readAgain } from '../../../lib/mutation/read-again.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { broadcastSession } from '../../../lib/session/session-channel.ts';
import { SEND_OPERATION } from './send-failure.ts';

type Transfer = { recipient_id: string; amount: string; idempotencyKey: string };

/** Sends credits. Where that fails, all tabs read their session again: the key may have been replaced. */
export function useTransfer(userId: string) {
  return useMutation({
    meta: { product: 'Transfer', inPlace: true },
    mutationFn: ({ idempotencyKey, ...transfer }: Transfer) =>
      call(
        transferTokens,
        { body: { user_id: userId, ...transfer } },
        { idempotencyKey, operation: SEND_OPERATION },
      ),
    onError: () => broadcastSession({ type: 'invalid-key', userId }),
    onSuccess: () => readAgain(['balance'], ['transaction']),
  });
}

/** Whom a username or an id means; asked for once both it and an amount are there, and never for an email address. */
export const recipientQuery = (userId: string, { name, amount }: { name: string; amount: string | null }) =>
  queryOptions({
    queryKey: ['recipient', userId, name, amount],
    queryFn: ({ signal }) =>
      call(
        previewTransfer,
        { query: { user_id: userId, recipient_id: name, amount: amount ?? '' } },
        { signal, operation: 'look up the recipient' },
      ),
    enabled: name !== '' && !name.includes('@') && amount !== null,
    retry: false,
  });
